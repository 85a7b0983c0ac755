"""Scores as a terminal table, as lines on what went wrong, and as a block of a Markdown page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rich import box
from rich.table import Table

from rankandfile.model.document import pretty

from .analysers import SEES_SOURCE
from .corpus import Score
from .judge import Marks
from .tally import ScoreRow, of_variants

#: The blocks of a page: of analysers that are given everything, the source too, the logs alone, and of the others;
#: and of all of them where something was taken away.
BEGIN, END = "<!-- scores: begin -->", "<!-- scores: end -->"

_COLUMNS = (
    ("cause", lambda row: row.of),
    ("incidents", lambda row: str(row.incidents)),
    ("hang or not", lambda row: str(row.hang)),
    ("culprits exact", lambda row: str(row.culprits)),
    ("innocents blamed", lambda row: str(row.innocents)),
    ("cause", lambda row: str(row.cause_named)),
    ("divergent call", lambda row: str(row.divergence)),
    ("abstained rightly / wrongly", lambda row: f"{row.abstained_rightly} / {row.abstained_wrongly}"),
    ("gave no answer", lambda row: str(row.failed)),
)


_PLACES = (
    ("cause", lambda row: row.of),
    ("incidents", lambda row: str(row.incidents)),
    ("file and function", lambda row: str(row.location)),
    ("the condition's line", lambda row: str(row.condition)),
    ("wrong place named", lambda row: f"{row.misplaced} of {row.placed}"),
    ("culprits exact", lambda row: str(row.culprits)),
    ("cause", lambda row: str(row.cause_named)),
)


_LOGS = (
    ("cause", lambda row: row.of),
    ("incidents", lambda row: str(row.incidents)),
    ("stuck group", lambda row: str(row.group)),
    ("ranks behind", lambda row: str(row.behind)),
    ("innocents blamed", lambda row: str(row.innocents)),
    ("culprits exact", lambda row: str(row.culprits)),
    ("cause", lambda row: str(row.cause_named)),
    ("gave no answer", lambda row: str(row.failed)),
)


_VARIANTS = (("taken away", lambda row: row.of), *_COLUMNS[1:])

_OWN_BLOCK = {
    "raf": "everything",
    "raf-logs": "logs",
    "raf-stacks": "stacks",
    "raf-stacks-src": "places of stacks",
}
_Columns = tuple[tuple[str, Callable[[ScoreRow], str]], ...]
_OF_BLOCK: dict[str, _Columns] = {
    "places": _PLACES,
    "logs": _LOGS,
    "places of stacks": _PLACES,
    "variants": _VARIANTS,
}


def block_of(one: Score) -> str:
    """The block of a page that the table belongs to."""
    if of_variants(one.marks):
        return "variants"
    if one.analyser in _OWN_BLOCK:
        return _OWN_BLOCK[one.analyser]
    return "places" if sees_source(one.analyser) else "scores"


def score_table(one: Score) -> Table:
    columns = _OF_BLOCK.get(block_of(one), _COLUMNS)
    table = Table(title=one.analyser, title_justify="left", box=box.SIMPLE_HEAD)
    for header, _ in columns:
        table.add_column(header, overflow="fold")
    for row in one.rows:
        table.add_row(*(value(row) for _, value in columns), style="bold" if row.of == "all" else None)
    return table


def wrong_in(mark: Marks, source: bool = False, logs: bool = False) -> list[str]:
    """What was not right, in words; with `source`, the place is asked for too.

    With `logs`, the group and the ranks behind are asked for, and nothing that logs need not tell.
    """
    questions = ["hang_right", "culprits_right", "cause_right", "divergence_right"]
    questions = ["group_right", "behind_right"] if logs else questions
    questions += ["location_right", "condition_right"] if source else []
    wrong = [name.removesuffix("_right") for name in questions if getattr(mark, name) is False]
    wrong += [f"innocents {mark.innocents_blamed}"] if mark.innocents_blamed else []
    return wrong + ([f"failed: {mark.failed}"] if mark.failed else [])


def worst_lines(marks: Sequence[Marks], source: bool = False, logs: bool = False) -> Iterator[str]:
    """One line per incident that was not fully right."""
    for mark in marks:
        if wrong := wrong_in(mark, source, logs):
            said = f"said {mark.said_cause or 'no cause'}, culprits {mark.said_culprits or 'none'}"
            yield f"{mark.incident}: {', '.join(wrong)} ({said}; cause is {mark.cause_expected})"


def write_page(page: Path, scores: Sequence[Score], incidents: int) -> None:
    """Replace the blocks between the page's markers; without markers, append them."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    for block, of_it in _by_block(scores).items():
        begin, end = f"<!-- {block}: begin -->", f"<!-- {block}: end -->"
        text = replaced(text, begin, end, _blocks(of_it, incidents, _OF_BLOCK.get(block, _COLUMNS)))
    page.write_text(text, encoding="utf-8")


def _by_block(scores: Sequence[Score]) -> dict[str, list[Score]]:
    """Each score in its block. Beside one that is given everything but the source, one with it is held against that:
    its places are told where it is scored alone."""
    found: dict[str, list[Score]] = {}
    beside = any(block_of(one) == "everything" for one in scores)
    for one in scores:
        block = block_of(one)
        block = "everything" if beside and block == "places" else block
        found.setdefault(block, []).append(one)
    return found


def sees_source(analyser: str) -> bool:
    return analyser in SEES_SOURCE or "{src}" in analyser


def replaced(text: str, begin: str, end: str, lines: Iterator[str]) -> str:
    block = "\n".join([begin, *lines, end])
    if begin in text and end in text:
        before, _, rest = text.partition(begin)
        return before + block + rest.partition(end)[2]
    return text.rstrip() + ("\n\n" if text.strip() else "") + block + "\n"


def _blocks(scores: Sequence[Score], incidents: int, columns: _Columns) -> Iterator[str]:
    yield f"{incidents} incidents. Shares are right/asked, with a 95 % interval (Wilson)."
    yield ""
    for one in scores:
        yield f"### {one.analyser}"
        yield ""
        yield "| " + " | ".join(header for header, _ in columns) + " |"
        yield "| " + " | ".join("---" for _ in columns) + " |"
        for row in one.rows:
            yield "| " + " | ".join(value(row) for _, value in columns) + " |"
        all_of_it = one.rows[-1]
        yield ""
        # Without a process for each incident there is no memory to tell.
        memory = f", at most {all_of_it.peak_mib:.0f} MiB in one process" if all_of_it.peak_mib else ""
        yield f"{all_of_it.seconds / max(1, all_of_it.incidents):.1f} s per incident{memory}."
        yield ""


def to_json(scores: Sequence[Score]) -> bytes:
    return pretty(scores) + b"\n"
