"""The verdict on one screen: what, who, where, why, what to do and what not to do.

It holds as text alone: colour and symbols only repeat what the words say. Where all of it would not fit, the least
important goes first.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from rankandfile.model.diagnosis import Diagnosis
from rankandfile.render.words import (
    UNICODE,
    Signs,
    base_name,
    culprit_ranks,
    headline,
    job_size,
    place_text,
    plain,
    ranks_named,
)

from . import what_happened, what_to_do
from .sheet import ROOMS, Room, Sheet

WIDTH, HEIGHT = 100, 40
_NARROW = 72
_NARROW_HEIGHT = 64
_LABEL = 8

_STYLE = {"established": "bold red", "supported": "bold yellow", "hypothesis": "bold yellow"}
_MEANS = {
    "established": "it follows from the records",
    "supported": "the evidence agrees, another cause remains possible",
    "hypothesis": "it fits the evidence, and is not proved",
}


def card(
    diagnosis: Diagnosis,
    signs: Signs = UNICODE,
    width: int = WIDTH,
    height: int | None = None,
    verbose: bool = False,
) -> RenderableType:
    """The best verdict in full, as far as it fits; others in a line each."""
    if not diagnosis.verdicts:
        return Text("no verdict")
    if height is None:
        height = HEIGHT if width >= _NARROW else _NARROW_HEIGHT
    for room in ROOMS:
        found = _whole(diagnosis, signs, width, room)
        if _height(found, width) <= height:
            break
    return found


def _height(found: RenderableType, width: int) -> int:
    measure = Console(width=width, color_system=None, legacy_windows=False)
    return len(measure.render_lines(found, pad=False))


def _whole(diagnosis: Diagnosis, signs: Signs, width: int, room: Room) -> RenderableType:
    sheet = Sheet(diagnosis, signs, max(20, width - _LABEL - 1), room)
    rows = Table.grid(padding=(0, 1, 0, 0))
    rows.add_column(style="bold", no_wrap=True, width=_LABEL)
    rows.add_column(overflow="fold", ratio=1)
    for label, lines in (*what_happened.parts(sheet), *what_to_do.parts(sheet)):
        for number, line in enumerate(lines):
            rows.add_row(label if number == 0 else "", line)
    return Group(*_head(sheet), Text(), rows)


def _head(sheet: Sheet) -> Iterator[Text]:
    """The first lines: the answer, how sure it is, and the sentence that says it all."""
    verdict = sheet.verdict
    style = "bold green" if verdict.cause == "no_hang" else _STYLE[verdict.confidence]
    yield Text.assemble(
        (headline(verdict, sheet.signs), style), *((part, "bold") for part in _who_and_where(sheet))
    )
    sure = f"{verdict.confidence}: {_MEANS[verdict.confidence]} {sheet.signs.dot} {job_size(sheet.diagnosis)}"
    yield sheet.text(sure, style="dim")
    if verdict.assumed:
        yield sheet.text(f"if {verdict.assumed}", style="dim")
    yield sheet.text(verdict.sentence)


def _who_and_where(sheet: Sheet) -> Iterator[str]:
    verdict, dot = sheet.verdict, f" {sheet.signs.dot} "
    if verdict.named and verdict.cause != "undetermined":
        yield dot + ranks_named(culprit_ranks(verdict), sheet.signs)
    where = verdict.location
    if where is not None and verdict.hang:
        yield dot + plain(place_text(base_name(where.file), where.condition_line or where.line))
