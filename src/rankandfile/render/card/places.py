"""Where in the code it is, the lines around it, and why it can differ between ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from rankandfile.model.diagnosis import Location
from rankandfile.render.source import draw, shortened, stands_at
from rankandfile.render.words import place_text

from .sheet import Sheet

#: Left of the code: the cohorts, the number, the mark.
_MARGIN = 16


def parts(sheet: Sheet) -> Iterator[tuple[str, Sequence[RenderableType]]]:
    verdict = sheet.verdict
    if verdict.location is not None:
        yield "where", _location(sheet, verdict.location)
    for excerpt in verdict.excerpts[:1]:
        here = stands_at(excerpt, verdict.location)
        few = shortened(excerpt, sheet.room.excerpt, sheet.width - _MARGIN, sheet.signs, here)
        yield "code", list(draw(few, sheet.signs, here))
    if verdict.location is not None and verdict.location.why_it_can_differ:
        yield "why", [sheet.text(verdict.location.why_it_can_differ)]


def _location(sheet: Sheet, where: Location) -> list[Text]:
    said = f" in {where.function}" if where.function else ""
    lines = [sheet.text(place_text(where.file, where.line), said)]
    if where.condition and not sheet.verdict.excerpts:
        lines.append(sheet.text(f"line {where.condition_line or where.line}: {where.condition}"))
    return lines
