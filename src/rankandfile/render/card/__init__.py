"""The verdict on one screen: what, who, where, why, what to do and what not to do.

It holds as text alone: colour and symbols only repeat what the words say. Where all of it would not fit, the least
important goes first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment
from rich.style import Style
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
from .sheet import ROOMS, Part, Room, Sheet

WIDTH, HEIGHT = 100, 40
_NARROW = 72
_NARROW_HEIGHT = 64
_LABEL = 8

_BOLD = Style(bold=True)
_STYLE = {"established": "bold red", "supported": "bold yellow", "hypothesis": "bold yellow"}
_MEANS = {
    "established": "it follows from the records",
    "supported": "the evidence agrees, another cause remains possible",
    "hypothesis": "it fits the evidence, and is not proved",
}


def card(
    diagnosis: Diagnosis, signs: Signs = UNICODE, width: int = WIDTH, height: int | None = None
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
    return Group(*_head(sheet), Text(), _Rows((*what_happened.parts(sheet), *what_to_do.parts(sheet))))


@dataclass(frozen=True)
class _Rows:
    """Labels, and what each stands for beside it. A table of Rich would say the same, and takes five times as long."""

    parts: Sequence[Part]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        margin = _LABEL + 1
        beside = options.update(width=max(1, options.max_width - margin), overflow="fold")
        for label, found in self.parts:
            lines = (line for one in found for line in console.render_lines(one, beside, pad=False))
            for number, line in enumerate(lines):
                yield Segment((label if number == 0 else "").ljust(margin), _BOLD)
                yield from line
                yield Segment.line()


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
