"""Scores as a terminal table, as lines on what went wrong, and as a block of a Markdown page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from rich import box
from rich.table import Table

from .corpus import Score
from .judge import Marks
from .tally import Row, Share

BEGIN, END = "<!-- scores: begin -->", "<!-- scores: end -->"

_COLUMNS = (
    ("cause", lambda row: row.cause),
    ("incidents", lambda row: str(row.incidents)),
    ("hang or not", lambda row: str(row.hang)),
    ("culprits exact", lambda row: str(row.culprits)),
    ("innocents blamed", lambda row: str(row.innocents)),
    ("cause", lambda row: str(row.cause_named)),
    ("divergent call", lambda row: str(row.divergence)),
    ("abstained rightly / wrongly", lambda row: f"{row.abstained_rightly} / {row.abstained_wrongly}"),
    ("gave no answer", lambda row: str(row.failed)),
)


def score_table(title: str, rows: Sequence[Row]) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for header, _ in _COLUMNS:
        table.add_column(header, overflow="fold")
    for row in rows:
        table.add_row(*(value(row) for _, value in _COLUMNS), style="bold" if row.cause == "all" else None)
    return table


def worst_lines(marks: Sequence[Marks]) -> Iterator[str]:
    """One line per incident that was not fully right."""
    questions = ("hang_right", "culprits_right", "cause_right", "divergence_right")
    for mark in marks:
        wrong = [name.removesuffix("_right") for name in questions if getattr(mark, name) is False]
        if mark.innocents_blamed:
            wrong.append(f"innocents {mark.innocents_blamed}")
        if mark.failed:
            wrong.append(f"failed: {mark.failed}")
        if wrong:
            said = f"said {mark.said_cause or 'no cause'}, culprits {mark.said_culprits or 'none'}"
            yield f"{mark.incident}: {', '.join(wrong)} ({said}; cause is {mark.cause_expected})"


def write_page(page: Path, scores: Sequence[Score], incidents: int) -> None:
    """Replace the block between the page's markers; without markers, append it."""
    block = "\n".join([BEGIN, *_blocks(scores, incidents), END])
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    if BEGIN in text and END in text:
        before, _, rest = text.partition(BEGIN)
        text = before + block + rest.partition(END)[2]
    else:
        text = text.rstrip() + ("\n\n" if text.strip() else "") + block + "\n"
    page.write_text(text, encoding="utf-8")


def _blocks(scores: Sequence[Score], incidents: int) -> Iterator[str]:
    yield f"{incidents} incidents. Shares are right/asked, with a 95 % interval (Wilson)."
    yield ""
    for one in scores:
        yield f"### {one.analyser}"
        yield ""
        yield "| " + " | ".join(header for header, _ in _COLUMNS) + " |"
        yield "| " + " | ".join("---" for _ in _COLUMNS) + " |"
        for row in one.rows:
            yield "| " + " | ".join(value(row) for _, value in _COLUMNS) + " |"
        all_of_it = one.rows[-1]
        yield ""
        yield (
            f"{all_of_it.seconds / max(1, all_of_it.incidents):.1f} s per incident, "
            f"at most {all_of_it.peak_mib:.0f} MiB in one process."
        )
        yield ""


def to_json(scores: Sequence[Score]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(list(scores)), indent=2) + b"\n"


__all__ = ["Share", "score_table", "to_json", "worst_lines", "write_page"]
