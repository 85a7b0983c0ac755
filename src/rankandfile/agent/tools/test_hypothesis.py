"""A structured claim, checked against the case: it holds, is refuted, or the evidence does not decide it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import polars as pl

from rankandfile.agent.bench import Bench
from rankandfile.agent.choose import groups_of, ranks_of
from rankandfile.agent.result import Answer, Line, line, who
from rankandfile.agent.tool import Arguments, Tool, ToolError
from rankandfile.model.column import Row
from rankandfile.model.events import event_id
from rankandfile.model.ledger import call_id
from rankandfile.model.snapshots import stack_id
from rankandfile.reason import lookup as look

_MOST_CITED = 4


class Claim(Arguments, frozen=True):
    kind: Literal["no_call_after", "made_call", "same_call", "waits_for", "stands_in", "log_says", "ended"]
    """no_call_after: none of `ranks` issued a call of `group` after `seq`. made_call: each of `ranks` issued call
    `seq` of `group` (as `op`, at `file`:`line`, where given). same_call: all of `ranks` asked for the same at `seq`
    of `group`: operation, sizes, call site. waits_for: each of `ranks` waits, over any number of links, for one of
    `other`. stands_in: the stack of each of `ranks` has a frame in `file` (at `line`, in `function`). log_says: a
    recognised line of each of `ranks` has `text`. ended: the process of each of `ranks` ended (with `text` in how)."""
    ranks: str
    group: str | None = None
    seq: int | None = None
    op: str | None = None
    file: str | None = None
    line: int | None = None
    function: str | None = None
    text: str | None = None
    other: str | None = None


class Outcome(NamedTuple):
    for_it: dict[int, str]
    """Rank -> the evidence that it is so. Of ranks that are in neither the evidence does not tell."""
    against: dict[int, str]
    words: str = ""


def test_hypothesis(bench: Bench, asked: Claim) -> Iterator[Line]:
    """Checks a structured claim against the case: holds, refuted (with the evidence against it), or undecided."""
    ranks = ranks_of(asked.ranks)
    if not ranks:
        raise ToolError("ranks: name at least one")
    outcome = _CHECKS[asked.kind](bench, asked, ranks)
    untold = set(ranks) - set(outcome.for_it) - set(outcome.against)
    verdict: Answer
    if outcome.against:
        verdict, told = "refuted", outcome.against
    elif untold:
        verdict, told = "undecided", outcome.for_it
    else:
        verdict, told = "holds", outcome.for_it
    ids = [one for one in dict.fromkeys(told.values()) if one]
    yield line(f"{verdict}: {asked.kind} of {who(ranks)}{_more(asked)}.", *ids[:_MOST_CITED], answer=verdict)
    for which, words in (
        (outcome.for_it, "it is so of"),
        (outcome.against, "it is not so of"),
        (untold, "the evidence does not tell it of"),
    ):
        if which:
            yield line(f"{words} {who(which)}")
    if outcome.words:
        yield line(outcome.words, *ids[:_MOST_CITED])


def _more(asked: Claim) -> str:
    """What else was asked, as far as an answer that holds confirms it."""
    if asked.kind == "waits_for":
        return f" for {who(ranks_of(asked.other or ''))}"
    if asked.kind in ("no_call_after", "made_call", "same_call"):
        return f" in group {asked.group} #{asked.seq}"
    return ""


def _needs(asked: Claim, *names: str) -> None:
    lacking = [name for name in names if getattr(asked, name) is None]
    if lacking:
        raise ToolError(f"{asked.kind} needs {' and '.join(lacking)}")


def _group(bench: Bench, asked: Claim) -> int:
    found = groups_of(bench.case, asked.group or "")
    ranks = set(ranks_of(asked.ranks))
    # A name can be that of many groups: the one that the ranks are members of is meant.
    mine = [g for g in found if ranks & set(bench.facts.membership.members.get(g, ()))] or found
    if len(mine) > 1:
        named = ", ".join(bench.case.group_label(g) for g in mine[:4])
        raise ToolError(f"'{asked.group}' is several groups: {named}")
    return mine[0]


def _of_group(bench: Bench, group: int, ranks: list[int]) -> pl.DataFrame:
    calls = bench.case.calls.filter((pl.col("group") == group) & pl.col("rank").is_in(ranks))
    return calls.filter(~pl.col("is_p2p"))


def _sure(bench: Bench, group: int) -> set[int]:
    """Ranks whose own dump tells all that they issued on the group lately: only these can be shown not to have."""
    whole = bench.facts.standing.filter((pl.col("group") == group) & pl.col("known") & pl.col("has_dump"))
    return set(whole["rank"].to_list())


def _standing(bench: Bench, rank: int, group: int) -> str:
    return next(iter(look.standing_evidence(bench.facts, rank, group)), "")


def _no_call_after(bench: Bench, asked: Claim, ranks: list[int]) -> Outcome:
    _needs(asked, "group", "seq")
    group = _group(bench, asked)
    later = _of_group(bench, group, ranks).filter(pl.col("seq") > asked.seq)
    first = later.sort("seq").unique("rank", keep="first", maintain_order=True)
    against = {row["rank"]: look.evidence_of(row) for row in first.iter_rows(named=True)}
    # Only a whole dump proves that there is no such call.
    sure = _sure(bench, group)
    for_it = {rank: _standing(bench, rank, group) for rank in ranks if rank in sure and rank not in against}
    return Outcome(for_it, against)


def _made_call(bench: Bench, asked: Claim, ranks: list[int]) -> Outcome:
    _needs(asked, "group", "seq")
    group = _group(bench, asked)
    rows = (
        _of_group(bench, group, ranks)
        .filter(pl.col("seq") == asked.seq)
        .join(
            bench.case.frames.select(pl.col("frame").alias("site"), "file", pl.col("line").alias("at")),
            on="site",
            how="left",
        )
    )
    for_it: dict[int, str] = {}
    against: dict[int, str] = {}
    for row in rows.iter_rows(named=True):
        fits = (
            (asked.op is None or asked.op == row["op"])
            and (asked.file is None or _same_file(row["file"], asked.file))
            and (asked.line is None or row["at"] == asked.line)
        )
        (for_it if fits else against)[row["rank"]] = look.evidence_of(row)
    last = dict(_of_group(bench, group, ranks).group_by("rank").agg(pl.col("seq").max()).iter_rows())
    untold = set(ranks) - set(for_it) - set(against)
    for rank in _sure(bench, group):
        if rank in untold and (last.get(rank) or -1) < (asked.seq or 0):
            against[rank] = _standing(bench, rank, group)
    return Outcome(for_it, against)


def _same_call(bench: Bench, asked: Claim, ranks: list[int]) -> Outcome:
    _needs(asked, "group", "seq")
    rows = _of_group(bench, _group(bench, asked), ranks).filter(pl.col("seq") == asked.seq)
    alike = rows.group_by("op", "shape", "site", "root", maintain_order=True).agg(
        pl.col("rank").sort(), pl.col("dump").first(), pl.col("record").first()
    )
    parts = sorted(alike.iter_rows(named=True), key=lambda row: -len(row["rank"]))
    ids = [{rank: call_id(row["dump"], row["record"]) for rank in row["rank"]} for row in parts]
    for_it = ids[0] if ids else {}
    against = {rank: one for part in ids[1:] for rank, one in part.items()}
    words = "; ".join(
        f"{who(row['rank'])}: {look.call_words(bench.facts, _working(bench, row))}" for row in parts[:4]
    )
    return Outcome(for_it, against, words)


def _working(bench: Bench, row: Row) -> Row:
    found = look.call_of_record(bench.facts, row["rank"][0], row["record"])
    assert found is not None
    return found


def _waits_for(bench: Bench, asked: Claim, ranks: list[int]) -> Outcome:
    _needs(asked, "other")
    goal = set(ranks_of(asked.other or ""))
    waits = bench.facts.waits
    for_it: dict[int, str] = {}
    against: dict[int, str] = {}
    for rank in ranks:
        seen, queue, doubt = {rank}, [rank], False
        while queue and not seen & (goal - {rank}):
            for index in waits.of_rank.get(queue.pop(), ()):
                call = waits.pending[index]
                doubt |= bool(call.unknown)
                queue += [r for r in (*call.lacking, *call.behind, *call.busy) if r not in seen]
                seen.update(queue)
        cited = next(iter(_pending_ids(bench, rank)), "")
        if seen & (goal - {rank}):
            for_it[rank] = cited
        elif not doubt and rank in bench.case.ranks_seen:
            against[rank] = cited
    return Outcome(for_it, against)


def _pending_ids(bench: Bench, rank: int) -> Iterator[str]:
    for index in bench.facts.waits.of_rank.get(rank, ()):
        call = bench.facts.waits.pending[index]
        row = None if call.slot is None else look.call_at(bench.facts, rank, call.group, call.slot)
        if row is not None:
            yield look.evidence_of(row)
    yield from (look.evidence_of(last) for last in [look.last_call(bench.facts, rank)] if last is not None)


def _stands_in(bench: Bench, asked: Claim, ranks: list[int]) -> Outcome:
    if asked.file is None and asked.function is None:
        raise ToolError("stands_in needs file or function")
    frames = bench.case.frames
    fits = pl.lit(True) if asked.function is None else pl.col("function") == asked.function
    if asked.line is not None:
        fits &= pl.col("line") == asked.line
    chosen = frames.filter(fits)
    wanted = {
        frame
        for frame, file in chosen.select("frame", "file").iter_rows()
        if asked.file is None or _same_file(file, asked.file)
    }
    rows = bench.stands.filter(pl.col("rank").is_in(ranks)).join(
        bench.case.stacks.select("stack", "frames"), on="stack"
    )
    for_it: dict[int, str] = {}
    against: dict[int, str] = {}
    for row in rows.iter_rows(named=True):
        here = wanted & set(row["frames"])
        (for_it if here else against)[row["rank"]] = stack_id(row["file"], row["line"])
    return Outcome(for_it, against)


def _log_says(bench: Bench, asked: Claim, ranks: list[int]) -> Outcome:
    _needs(asked, "text")
    lowered = pl.col("text").str.to_lowercase()
    rows = bench.case.events.filter(
        pl.col("rank").is_in(ranks) & lowered.str.contains((asked.text or "").lower(), literal=True)
    ).unique("rank", keep="first", maintain_order=True)
    for_it = {row["rank"]: event_id(row["log"], row["line"]) for row in rows.iter_rows(named=True)}
    # That no recognised line says it does not mean that no line does.
    return Outcome(for_it, {})


def _ended(bench: Bench, asked: Claim, ranks: list[int]) -> Outcome:
    for_it: dict[int, str] = {}
    against: dict[int, str] = {}
    for row in bench.case.exits.filter(pl.col("rank").is_in(ranks)).iter_rows(named=True):
        cited = row["evidence"] or ""
        told = f"{row['state']} {row['signal']} {row['exit_code']} {row['error']}".lower()
        fits = row["state"] not in ("running", "stopped") and (asked.text or "").lower() in told
        (for_it if fits else against)[row["rank"]] = cited
    against = {rank: cited for rank, cited in against.items() if rank not in for_it}
    return Outcome(for_it, against)


def _same_file(ran: str | None, asked: str) -> bool:
    return ran is not None and f"/{ran}".replace("\\", "/").endswith(f"/{asked.lstrip('/')}")


_CHECKS: dict[str, Callable[[Bench, Claim, list[int]], Outcome]] = {
    "no_call_after": _no_call_after,
    "made_call": _made_call,
    "same_call": _same_call,
    "waits_for": _waits_for,
    "stands_in": _stands_in,
    "log_says": _log_says,
    "ended": _ended,
}

ORDER = 190
TOOL = Tool(test_hypothesis, Claim)
