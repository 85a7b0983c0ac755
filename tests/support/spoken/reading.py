"""Statements in words: sentences, lines of the card, rows of tables. Only words are read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from .statement import Kind, Named, Spoken

_SOME = r"\d[\d\-]*(?:, ?\d[\d\-]*)*(?: and \d[\d\-]*)?"
_OPS = (
    r"(?:coalesced )?(?:all_reduce|all_gather|all_to_all|reduce_scatter|broadcast|barrier|monitored_barrier|reduce"
    r"|gather|scatter|send|recv|coalesced)\b"
)
_PLACE = r"(?P<file>[^\s:()]+\.py):(?P<line>\d+)"
#: `the all_reduce of 64 elements at train.py:9 (group default_pg [0-3], seq 7)`
_CALL = (
    rf"(?:the )?(?P<op>{_OPS})(?: of [\d,]+ elements)?(?: at {_PLACE})?"
    r"(?: \(group (?P<group>[^()]*?)(?:, seq (?P<seq>-?\d+))?\))?"
)
#: `all_reduce #7 of default_pg [0-3]`, as the card's lines have it.
_CARD_CALL = rf"(?P<op>{_OPS}|call)(?: #(?P<seq>\d+))?(?: of (?P<group>[^,:;]*(?:\[[\d,\- ]*\])?))?"
_WHO = rf"(?:[Rr]anks? (?P<who>{_SOME})|(?P<it>\b[Ii]t\b|\b[Tt]hey\b|(?<=; )(?:its|their)))"


def _p(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace("WHO", _WHO).replace("CALL", _CALL).replace("SOME", _SOME))


#: A clause that says of ranks that they did something about a call.
_CLAUSES: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("waits", _p(r"WHO (?:only )?waits?(?: for (?:it|them|ranks? SOME))? in CALL")),
    ("waits somewhere", _p(r"WHO waits? (?:too|as well)\b")),
    ("left the loop", _p(r"WHO (?:has |have )?left the loop\b")),
    ("waits", _p(r"WHO waits?(?: for (?:it|them|ranks? SOME))? (?:(?P<there>there|in it)\b|in that (?P<that>[\w ]+))")),
    ("never", _p(r"WHO (?:never (?:joined|issued|came to)|(?:has|have|had) not (?:issued|come to|joined)) CALL")),
    ("skipped", _p(r"WHO (?:skipped|left out) (?!\d)CALL")),
    ("skipped", _p(r"WHO (?:skipped|left out) \d+ calls, beginning with CALL")),
    ("made", _p(r"WHO (?:made|makes?|called|issued) CALL")),
    ("made", _p(r"where (?:only )?WHO (?:made|makes?|called) CALL")),
    ("made", _p(r"where WHO called it with")),
    ("made", _p(r"which WHO made at that point")),
    ("made", _p(r"WHO (?:is|are) in CALL")),
    ("made", _p(r"ranks? (?P<who>SOME): (?=(?:all|bro|bar|red|gat|sca|mon))CALL(?= )")),
    ("done", _p(r"WHO (?:is|are) done with (?P<there>it)")),
    ("done", _p(r"(?P<it>its|their) last (?:call|one), CALL, is done")),
    ("made", _p(r"(?P<it>its|their) last (?:call|one) was CALL")),
)  # fmt: skip
_NTH = re.compile(r",? (?:at least )?the (?P<nth>\d+)(?:st|nd|rd|th) call by this path")
_AFTER = r"(?=$|, (?:and )?(?:exited|is|made|caught|its log|went)\b|\. [A-Z])"
_ENDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("ended", re.compile(r"\b(?:killed by (?P<signal>SIG[A-Z0-9]+)|exited with code (?P<code>-?\d+))")),
    ("raised", re.compile(r"\braised (?P<raised>[A-Z]\w*: .*?)" + _AFTER)),
    ("ended well", re.compile(r"\bended well\b")),
)  # fmt: skip
_STANDS = re.compile(
    r"\bin (?:[\w.<>()\[\]]+ ← )*[\w<>.]+, (?P<file>[^\s:()]+\.py):(?P<line>\d+)(?=$|[,;.)]| while)"
)
_TAKEN = re.compile(
    r"\((?P<ways>[^()]*(?:taken|true|false|exhausted|another round|not taken) on ranks? [^()]*)\)"
)
_WAY = re.compile(
    r"(?P<way>not taken|taken|true|false|exhausted|another round) on ranks? (?P<who>\d[\d,\-]*)"
)
_AT_TEST = re.compile(
    r"went (?:different ways|another way than (?:ranks? )?[\d,\-]+) at (?P<file>[^\s:()]+\.py):(?P<line>\d+)"
)
_LOGGED = re.compile(r"(?:last line is|says|last words are those of the others,) '(?P<quote>[^']*)'")
_SUBJECT = re.compile(rf"\b[Rr]anks? (?P<who>{_SOME})")
_CARD_WAIT = re.compile(
    rf"^(?P<who>\d[\d,\-]*) (?:for (?P<whom>\d[\d,\-…]*), )?in {_CARD_CALL.replace('|call)', '|call)')}$"
)
_SPLIT = re.compile(
    r"(?<=[;.])\s+(?=[A-Za-z])|(?<=circle: )|, and (?=ranks? \d[^,]*\b(?:wait|are done|is done))"
)


def ranks_in(text: str) -> tuple[int, ...]:
    """`0-2, 5 and 7`: each of them."""
    found: list[int] = []
    for part in re.split(r",| and ", text):
        first, _, last = part.strip().partition("-")
        if first:
            found += range(int(first), int(last or first) + 1)
    return tuple(found)


def of_sentence(text: str, subject: tuple[int, ...] = (), everyone: tuple[int, ...] = ()) -> Iterator[Spoken]:
    """`subject`: whom it is about before it names anybody. `everyone`: the ranks of the job."""
    call = Named()
    calls: dict[str | None, Named] = {}
    for clause in _SPLIT.split(text):
        if "may " in clause or clause.startswith(("If ", "It may", "That ")) or "would" in clause:
            # A supposition states nothing.
            subject = _who(_SUBJECT.search(clause), subject)
            continue
        opening = _SUBJECT.search(clause)
        if opening is not None and opening.start() < 4:
            subject = ranks_in(opening["who"])
        elif clause.startswith("Every rank "):
            subject = everyone
        for kind, pattern in _CLAUSES:
            for match in pattern.finditer(clause):
                that = match.groupdict().get("that")
                call = calls.get(that, call) if that else _named(match, call)
                calls[call.op] = call
                counted = _NTH.match(clause, match.end()) if kind == "made" else None
                yield Spoken(
                    kind=kind,
                    ranks=_who(match, subject),
                    call=call,
                    nth=int(counted["nth"]) if counted else 0,
                    words=clause,
                )
        yield from _of_process(clause, subject)
        yield from _tests(clause)


def _who(match: re.Match[str] | None, subject: tuple[int, ...]) -> tuple[int, ...]:
    if match is None:
        return subject
    named = match.groupdict().get("who")
    return ranks_in(named) if named else subject


def _named(match: re.Match[str], before: Named) -> Named:
    found = match.groupdict()
    if found.get("op") is None:
        return before
    title, members = _group(found.get("group"))
    return Named(
        op=found["op"],
        file=found.get("file"),
        line=int(found["line"]) if found.get("line") else None,
        group=title,
        members=members,
        seq=int(found["seq"]) if found.get("seq") else None,
    )


def _group(label: str | None) -> tuple[str | None, frozenset[int]]:
    if not label:
        return None, frozenset()
    label = label.replace(", members not told", "")
    if label.startswith("not told"):
        return None, frozenset()
    title, _, listed = label.strip().removesuffix("]").rpartition(" [")
    if not title:
        return label.strip(), frozenset()
    return title, frozenset(ranks_in(listed)) if re.fullmatch(r"[\d,\- ]+", listed) else frozenset()


def _of_process(clause: str, subject: tuple[int, ...]) -> Iterator[Spoken]:
    for kind, pattern in _ENDS:
        for match in pattern.finditer(clause):
            found = match.groupdict()
            named = _last_named(clause, match.start()) or subject
            what = found.get("signal") or found.get("code") or found.get("raised") or ""
            yield Spoken(kind=kind, ranks=named, what=what, words=clause)
    for match in _STANDS.finditer(clause):
        if "parted" in clause or "pped" in clause or "aught" in clause or "different ways" in clause:
            continue
        named = _last_named(clause, match.start()) or subject
        yield Spoken(kind="stands", ranks=named, file=match["file"], line=int(match["line"]), words=clause)
    for match in _LOGGED.finditer(clause):
        yield Spoken(kind="logged", ranks=subject, what=match["quote"], words=clause)


def _last_named(clause: str, before: int) -> tuple[int, ...]:
    named = [
        match
        for match in _SUBJECT.finditer(clause)
        if match.start() < before and not clause[: match.start()].endswith("says ")
    ]
    return ranks_in(named[-1]["who"]) if named else ()


def _tests(clause: str) -> Iterator[Spoken]:
    at = _AT_TEST.search(clause)
    for found in _TAKEN.finditer(clause) if at is not None else ():
        for way in _WAY.finditer(found["ways"]):
            yield Spoken(
                kind="took",
                ranks=ranks_in(way["who"].rstrip(",")),
                file=at["file"],
                line=int(at["line"]),
                truth=way["way"] in ("taken", "true", "another round"),
                words=clause,
            )


_TAKEN_BY = re.compile(r"(?P<no>not )?taken by ranks? (?P<who>\d[\d,\-]*)")
_OF_A_PART = re.compile(r"(?P<no>true|false) on ranks? (?P<who>\d[\d,\-]*)")


def of_branch(text: str) -> Iterator[Spoken]:
    """`if rank == 0:  taken by rank 0, not taken by ranks 1-3`; `if bad and asked():  bad is true on rank 0`."""
    condition, _, ways = text.partition("  ")
    for way in _OF_A_PART.finditer(ways):
        words = f"`{condition}` {way[0]}"
        truth = way["no"] == "true"
        yield Spoken(kind="took", ranks=ranks_in(way["who"].rstrip(",")), truth=truth, words=words)
    for way in _TAKEN_BY.finditer(ways):
        words = f"`{condition}` {way[0]}"
        yield Spoken(kind="took", ranks=ranks_in(way["who"].rstrip(",")), truth=not way["no"], words=words)


def listed(who: str, world: int) -> str:
    """`ranks 0,2`, `all ranks but 3`, `all 8 ranks`, `the 4 odd ranks 1-7`, as a list; as it is where it is none."""
    if match := re.fullmatch(r"(?:ranks? )?(\d[\d,\-]*)", who):
        return match[1]
    if match := re.fullmatch(r"all ranks but (\d[\d,\-]*)", who):
        return ",".join(str(rank) for rank in range(world) if rank not in ranks_in(match[1]))
    if re.fullmatch(r"all [\d,]+ ranks", who):
        return f"0-{world - 1}"
    if match := re.fullmatch(r"the [\d,]+ (?:odd|even) ranks (\d+)-(\d+)", who):
        return ",".join(map(str, range(int(match[1]), int(match[2]) + 1, 2)))
    return who


def of_wait(text: str) -> Iterator[Spoken]:
    """`0-2 for 3, in all_reduce #7 of default_pg [0-3]`."""
    match = _CARD_WAIT.match(text)
    if match is None or match["op"] == "call":
        return
    yield Spoken(kind="waits", ranks=ranks_in(match["who"]), call=_named(match, Named()), words=text)


def of_cohort(ranks: str, said: str, header: Named) -> Iterator[Spoken]:
    """What a cohort came to: `all_reduce #7 train.py:9`, `no call here`, `never came to #7`."""
    if not re.fullmatch(r"\d[\d,\-]*", ranks):
        return
    who, words = ranks_in(ranks), f"{ranks} > {said}"
    if said == "no call here" or said.startswith(("never came to", "gone before")):
        yield Spoken(kind="left out", ranks=who, call=header, words=words)
        return
    match = re.match(
        rf"(?P<op>{_OPS})(?: #(?P<seq>\d+))?(?: of (?P<group>\S+(?: \[[^\]]*\])?))?(?: {_PLACE})?", said
    )
    if match is not None:
        call = _named(match, Named())
        if call.group is None:
            call = replace(call, group=header.group, members=header.members)
        yield Spoken(kind="made", ranks=who, call=call, words=words)


def header_of(text: str) -> Named:
    """`group default_pg [0-3] #7, step 3 of this loop`."""
    match = re.match(r"group (?P<group>[^\[\]#]*(?:\[[^\]]*\])?)(?: #(?P<seq>\d+))?", text)
    if match is None:
        return Named()
    title, members = _group(match["group"])
    return Named(group=title, members=members, seq=int(match["seq"]) if match["seq"] else None)
