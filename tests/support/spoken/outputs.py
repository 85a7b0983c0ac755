"""Every output of one diagnosis as a person gets it, and the statements that stand in each."""

from __future__ import annotations

import html
import io
import json
import re
from collections.abc import Callable, Collection, Iterator

from rich.console import Console

from rankandfile.agent.bench import Bench
from rankandfile.agent.playbook import investigate
from rankandfile.model.diagnosis import to_json
from rankandfile.reason.pictures import pictures
from rankandfile.render.card import card
from rankandfile.render.formats import markdown
from rankandfile.render.report import page

from .code import Sources, two_places, untrue_of_branch, untrue_of_code, untrue_of_location
from .reading import header_of, listed, of_branch, of_cohort, of_sentence, of_wait, ranks_in
from .statement import Named, Spoken

_WIDE = 4000
_LABELS = 8
_RANKS = re.compile(r"^ranks? (?P<who>[\d,\-]+)(?: on \S+)?: (?P<doing>.*)$", re.IGNORECASE)
_CITES = re.compile(r" \[(?:[A-Z]+\d[^\[\]]*|[\w./\-]+\.py:\d+)(?:, [^\[\]]*)?\]")
_BLOCK = re.compile(r"</?(?:p|li|dd|dt|div|h\d|tr|td|th|pre|ul|figcaption|summary)\b[^>]*>")
#: `rank 1 ▸ waits for ranks 0,2-7: all_gather #21 of default_pg [0-7]`.
_IN_CIRCLE = re.compile(r"^(?P<who>ranks? [\d,\-]+) *▸ ?waits? for (?P<whom>ranks? [\d,\-]+): (?P<call>.+)$")
_ROW = re.compile(r"^(?P<who>[^▸]*?)(?: on \S+)? *▸ ?(?P<said>.*)$")
#: Labels of the card and of its details.
_KNOWN = {
    *("calls", "circle", "branch", "stands", "why", "next", "fix", "not", "also", "against", "proof", "more"),
    *(
        "culprit",
        "suspect",
        "victims",
        "waiting",
        "where",
        "code",
        "do",
        "do not",
        "confirm",
        "or else",
        "missing",
    ),
    *("unknown", "unread"),
}
_UNHEARD = {
    "proof",
    "code",
    "do",
    "do not",
    "confirm",
    "missing",
    "unread",
    "why",
    "fix",
    "not",
    "next",
    "more",
}
_COHORT = re.compile(r"^(?P<who>\d[\d,\-]*) ?▸ ?(?P<said>.*)$")


OUTPUTS = ("JSON", "card", "Markdown", "page", "investigation")


def told_of_code(bench: Bench, sources: Sources) -> Iterator[str]:
    """What is untrue of lines of code, in the document and on the card."""
    for verdict in json.loads(to_json(bench.diagnosis))["verdicts"]:
        if verdict["location"] is not None:
            yield from untrue_of_location(verdict["location"], sources)
        yield from untrue_of_code(verdict["sentence"], sources)
        yield from two_places(verdict["sentence"])
        for claim in verdict["claims"]:
            if claim["claim"] == "took_branch":
                yield from untrue_of_branch(claim, sources)
    file = io.StringIO()
    Console(file=file, width=_WIDE, color_system=None, legacy_windows=False).print(
        card(bench.diagnosis, width=_WIDE, verbose=True)
    )
    for line in file.getvalue().splitlines():
        if not line.startswith("fix "):
            yield from untrue_of_code(line.strip(), sources)


def said(bench: Bench, outputs: Collection[str] = OUTPUTS) -> Iterator[tuple[str, Spoken]]:
    """The output's name, and a statement of it."""
    everyone = tuple(range(bench.diagnosis.job.world_size or 0))
    made: dict[str, Callable[[], Iterator[Spoken]]] = {
        "JSON": lambda: _json(to_json(bench.diagnosis), everyone),
        "card": lambda: _card(bench, everyone),
        "Markdown": lambda: _markdown(markdown.write(bench.diagnosis), everyone),
        "page": lambda: _page(page(bench.diagnosis, pictures(bench.facts, bench.diagnosis), "0"), everyone),
        "investigation": lambda: _investigation(investigate(bench).document, everyone),
    }
    for name in outputs:
        for one in made[name]():
            yield name, one


def _json(data: bytes, everyone: tuple[int, ...]) -> Iterator[Spoken]:
    said = json.loads(data)
    for verdict in said["verdicts"]:
        yield from of_sentence(verdict["sentence"], everyone=everyone)
        for one in (*verdict["culprits"], *verdict["suspects"]):
            yield from of_sentence(f"{one['doing'] or ''}", (one["rank"],))
            yield from _doing((one["rank"],), one["doing"] or "")
        for wait in verdict["waits"]:
            if wait["op"] is not None:
                number = "" if wait["seq"] is None else f" #{wait['seq']}"
                yield from of_wait(f"{wait['ranks']} in {wait['op']}{number} of {wait['group']}")
        for other in verdict["alternatives"]:
            yield from (s for s in of_sentence(other["sentence"]) if s.kind == "waits")
        if (parted := verdict["divergence"]) is not None:
            yield from _parted(parted)
            header = header_of(f"group {parted['group']} #{parted['seq']}")
            yield Spoken(
                kind="nth", ranks=(0,), call=header, what=parted["place"] or "", words=str(parted["place"])
            )
    for one in said["standings"]:
        yield from _standing(one["ranks"], one["state"], one["what"])


def _parted(parted: dict) -> Iterator[Spoken]:  # type: ignore[type-arg]
    number = "" if parted["seq"] is None else f" #{parted['seq']}"
    header = header_of(f"group {parted['group']}{number}")
    for cohort in parted["cohorts"]:
        call = cohort["call"]
        if call is None:
            if not cohort["unknown"]:
                yield from of_cohort(cohort["ranks"], "no call here", header)
            continue
        number = "" if call["seq"] is None else f" #{call['seq']}"
        of = f" of {call['group']}" if call["group"] not in (None, parted["group"]) else ""
        at = f" {call['file'].rpartition('/')[2]}:{call['line']}" if call["file"] else ""
        yield from of_cohort(cohort["ranks"], f"{call['op']}{number}{of}{at}", header)


def _standing(ranks: str, state: str, what: str) -> Iterator[Spoken]:
    if re.fullmatch(r"\d[\d,\-]*", ranks):
        word = "wait" if state == "waits" and what.startswith("in the ") else "is:"
        yield from of_sentence(f"ranks {ranks} {word} {what}", ranks_in(ranks))


def _doing(ranks: tuple[int, ...], words: str) -> Iterator[Spoken]:
    """`is in broadcast at x.py:4 instead`, `went on to the send at x.py:9`: without a subject of its own."""
    listed = ", ".join(map(str, ranks))
    if words.startswith(("left the loop", "waits as well", "wait as well")):
        yield from of_sentence(f"ranks {listed} {words}")
    for verb in ("is in", "made", "left the loop, and is in", "went on to the", "its last one was"):
        if words.startswith(verb):
            plain = {"went on to the": "made the", "left the loop, and is in": "is in"}.get(verb, verb)
            yield from of_sentence(f"ranks {listed} {plain}{words.removeprefix(verb)}")


def _card(bench: Bench, everyone: tuple[int, ...]) -> Iterator[Spoken]:
    """The card, and its details below: two tables of labels, the second with the wider ones."""
    file = io.StringIO()
    Console(file=file, width=_WIDE, color_system=None, legacy_windows=False).print(
        card(bench.diagnosis, width=_WIDE, verbose=True)
    )
    shown = file.getvalue().splitlines()
    below = next((n for n, line in enumerate(shown) if line.startswith("more ")), len(shown))
    yield from _headed(shown[0], everyone)
    yield Spoken(kind="size", ranks=(0,), what=shown[1], words=shown[1])
    yield from _lines(shown[2:below], _LABELS - 1, everyone)
    yield from _lines(shown[below + 1 :], _LABELS, everyone)


_HEAD = re.compile(
    r"^(?:NO HANG|HANG|IF IT HUNG): (?P<who>(?:all |the )?(?:\d+ )?[a-z ]*ranks?(?: but)? ?[\d,\-]*) (?P<did>[a-z].*)$"
)


def _headed(line: str, everyone: tuple[int, ...]) -> Iterator[Spoken]:
    """`HANG: rank 2 left early          trainer.py:40 in fit`."""
    said, _, _place = line.partition("  ")
    if (match := _HEAD.match(said)) and re.fullmatch(
        r"\d[\d,\-]*", who := listed(match["who"], len(everyone))
    ):
        yield Spoken(kind="did", ranks=ranks_in(who), what=match["did"], words=said)


def _lines(shown: list[str], labels: int, everyone: tuple[int, ...]) -> Iterator[Spoken]:
    label, header = "", Named()
    for line in shown:
        text = line.strip()
        words = line[:labels].strip()
        if not text:
            label = ""
        elif words and line[labels : labels + 1] == " " and words in _KNOWN:
            label, text = words, line[labels + 1 :].strip()
        if label in _UNHEARD:
            continue
        if label == "calls" and text.startswith("group "):
            header = header_of(text)
        elif label in ("calls", "stands") and (match := _ROW.match(text)):
            yield from _line_of(label, listed(match["who"], len(everyone)), match["said"].strip(), header)
        elif label == "circle":
            if found := _IN_CIRCLE.match(text):
                who, whom = (re.sub("^ranks? ", "", found[part]) for part in ("who", "whom"))
                yield from of_wait(f"{who} for {whom}, in {found['call']}")
        elif label == "branch":
            yield from of_branch(text)
        elif label == "waiting":
            yield from of_wait(text)
        elif label in ("culprit", "suspect") and (match := _RANKS.match(text)):
            yield from _doing(ranks_in(match["who"]), match["doing"])
            yield from of_sentence(match["doing"], ranks_in(match["who"]))
        else:
            yield from (
                s for s in of_sentence(text, everyone=everyone) if label != "or else" or s.kind == "waits"
            )


def _line_of(label: str, who: str, said: str, header: Named) -> Iterator[Spoken]:
    if label == "stands":
        state = "waits" if said.startswith("waits: ") else "stands"
        yield from _standing(who, state, said.removeprefix("waits: ").removeprefix("gone: "))
        return
    yield from of_cohort(who, re.sub(r"^waits? in ", "", said), header)
    if re.fullmatch(r"\d[\d,\-]*", who):
        yield from _doing(ranks_in(who), said)
        yield from of_sentence(said, ranks_in(who))


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", _CITES.sub("", text.replace("<!-- -->", ""))).replace("`", "")


def _markdown(text: str, everyone: tuple[int, ...]) -> Iterator[Spoken]:
    header, section = Named(), ""
    for line in _unfenced(text):
        plain = _plain(line).strip()
        if plain.startswith("#"):
            section = plain.lstrip("# ")
        elif plain.startswith("|"):
            cells = [cell.strip() for cell in plain.strip("|").split("|")]
            if cells[0] == "calls":
                header = header_of(cells[1])
            elif len(cells) == 2 and re.fullmatch(r"\d[\d,\-]*", cells[0]):
                yield from of_cohort(cells[0], cells[1], header)
        elif section.startswith("What the ") and (match := _RANKS.match(plain.removeprefix("- "))):
            yield from _doing(ranks_in(match["who"]), match["doing"])
            yield from of_sentence(match["doing"], ranks_in(match["who"]))
        elif section not in ("Proof", "What could not be read", "What to do", "What is missing"):
            found = of_sentence(plain.removeprefix("- "), everyone=everyone)
            yield from (s for s in found if section != "What else it may be" or s.kind == "waits")


def _investigation(text: str, everyone: tuple[int, ...]) -> Iterator[Spoken]:
    section = ""
    for line in _unfenced(text):
        if line.startswith("#"):
            section = line.lstrip("# ").strip()
        elif section not in ("The evidence", "The steps", "The fix", "Probes", "What not to do"):
            plain = _plain(line).removeprefix("- ").strip()
            if plain.startswith("That ") or "Not ruled out" in plain:
                continue
            yield from of_sentence(re.sub(r"^Rank \d+ is blamed \(\w+\): ", "", plain), everyone=everyone)


def _unfenced(text: str) -> Iterator[str]:
    inside = False
    for line in text.splitlines():
        if line.startswith("```"):
            inside = not inside
        elif not inside:
            yield line


def _page(text: str, everyone: tuple[int, ...]) -> Iterator[Spoken]:
    text = re.sub(r"<(script|style|svg|template|title)\b.*?</\1>", "", text, flags=re.DOTALL)
    text = re.sub(r'<span class="cites">.*?</span>', "", text, flags=re.DOTALL)
    text = text.partition('<section id="evidence"')[0]
    header = Named()
    for block in (line for part in _BLOCK.split(text) for line in part.split("\n")):
        plain = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", block))).strip()
        if plain.startswith("group ") and " at #" in plain:
            header = header_of(plain.replace(" at #", " #"))
        elif match := _COHORT.match(plain):
            yield from of_cohort(match["who"].strip(), match["said"].strip(), header)
        elif match := re.match(r"^(?P<who>\d[\d,\-]*)(?: on \S+)?: (?P<doing>.*)$", plain):
            yield from _doing(ranks_in(match["who"]), match["doing"])
            yield from of_sentence(match["doing"], ranks_in(match["who"]))
        elif plain and not plain.startswith(("do: ", "do not: ")):
            yield from of_sentence(plain, everyone=everyone)
