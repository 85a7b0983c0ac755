"""The verdict on one screen: who did what, where, why, what to do and what not to do; `-v` has all of it below.

It holds as text alone: colour and symbols only repeat what the words say. Where all of it would not fit the terminal,
the least important goes first.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from rankandfile.model.diagnosis import Diagnosis
from rankandfile.render.words import UNICODE, Signs

from . import brief, strip, what_happened, what_to_do
from .sheet import ALL, ROOMS, Part, Room, Sheet

WIDTH = 100
_LABEL, _WIDE_LABEL = 7, 8


def card(
    diagnosis: Diagnosis,
    signs: Signs = UNICODE,
    width: int = WIDTH,
    height: int | None = None,
    verbose: bool = False,
) -> RenderableType:
    """The best verdict, others in a line each. `height`: of the terminal, in which it is to be seen as a whole; a pipe
    has none. `verbose`: all that is known of it comes after that."""
    if not diagnosis.verdicts:
        return Text("no verdict")
    for room in ROOMS:
        found = _brief(diagnosis, signs, width, room)
        if height is None or _height(found, width) < height:
            break
    return Group(found, Text(), _details(diagnosis, signs, width)) if verbose else found


def _height(found: RenderableType, width: int) -> int:
    measure = Console(width=width, color_system=None, legacy_windows=False)
    return len(measure.render_lines(found, pad=False))


def _brief(diagnosis: Diagnosis, signs: Signs, width: int, room: Room) -> RenderableType:
    sheet = Sheet(diagnosis, signs, max(20, width - _LABEL - 1), room)
    first = diagnosis.verdicts[0]
    head = [*brief.head(sheet, width), Text()]
    parts = list(brief.parts(sheet))
    if parts and not parts[0][0]:
        # The sentence has the whole width.
        head += [sheet.text(first.sentence), Text()]
        parts = parts[1:]
    return Group(*head, _rows(parts, _LABEL))


def _details(diagnosis: Diagnosis, signs: Signs, width: int) -> RenderableType:
    sheet = Sheet(diagnosis, signs, max(20, width - _WIDE_LABEL - 1), ALL)
    told = [sheet.text(diagnosis.verdicts[0].sentence), Text()] if strip.tells(diagnosis.verdicts[0]) else []
    return Group(*told, _rows([*what_happened.parts(sheet), *what_to_do.parts(sheet)], _WIDE_LABEL))


def _rows(parts: Iterable[Part], label_width: int) -> Table:
    rows = Table.grid(padding=(0, 1, 0, 0))
    rows.add_column(style="bold", no_wrap=True, width=label_width)
    rows.add_column(overflow="fold", ratio=1)
    for label, lines in parts:
        for number, line in enumerate(lines):
            rows.add_row(label if number == 0 else "", line)
    return rows
