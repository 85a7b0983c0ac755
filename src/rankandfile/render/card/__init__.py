"""The verdict on one screen: what, who, where, why, what to do and what not to do.

It holds as text alone: colour and symbols only repeat what the words say. Where all of it would not fit, the least
important goes first.
"""

from __future__ import annotations

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from rankandfile.model.diagnosis import Diagnosis
from rankandfile.render.words import UNICODE, Signs

from . import what_happened, what_to_do
from .head import head
from .sheet import ROOMS, Room, Sheet

WIDTH, HEIGHT = 100, 40
_NARROW = 72
_NARROW_HEIGHT = 64
_LABEL = 8


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
    rows = Table.grid(padding=(0, 1, 0, 0))
    rows.add_column(style="bold", no_wrap=True, width=_LABEL)
    rows.add_column(overflow="fold", ratio=1)
    for label, lines in (*what_happened.parts(sheet), *what_to_do.parts(sheet)):
        for number, line in enumerate(lines):
            rows.add_row(label if number == 0 else "", line)
    return Group(*head(sheet), Text(), rows)
