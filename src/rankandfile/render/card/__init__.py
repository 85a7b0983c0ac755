"""The verdict on one screen: who did what, where, why, what to do and what not to do; `-v` has all of it below.

It holds as text alone: colour and symbols only repeat what the words say. Where all of it would not fit the terminal,
the least important goes first.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from rankandfile.model.diagnosis import Diagnosis
from rankandfile.render.words import UNICODE, Signs

from . import brief, strip, what_happened, what_to_do
from .asked import Asked
from .head import head
from .sheet import ALL, ROOMS, WIDE_ROOMS, Part, Sheet, WholeLine

WIDTH = 100
_LABEL, _WIDE_LABEL = 7, 8
#: More lines than these nobody reads in ten seconds, wherever there is room for them.
_AT_ONCE = 16
#: What is left out of a window that is too low for all of it: who did what, what to do, and that there is more, stay.
_LEAST = ("lint", "proof", "don't", "why", "stands", "also", "more")
#: In a window narrower than this, all of it takes too many lines.
_NARROW = 80
#: So many of these go where it is more than is read at once, however high the window is; what not to do stays for one
#: line more than that.
_LEAST_OF_NARROW, _LEAST_OF_WIDE = 3, 1

_BOLD = Style(bold=True)


def card(
    diagnosis: Diagnosis,
    signs: Signs = UNICODE,
    width: int = WIDTH,
    height: int | None = None,
    verbose: bool = False,
    asked: Asked | None = None,
) -> RenderableType:
    """The best verdict, others in a line each. `height`: of the terminal, in which it is to be seen as a whole; a pipe
    has none. `verbose`: all that is known of it comes after that. `asked`: as what is to be typed next begins."""
    if not diagnosis.verdicts:
        return Text("no verdict")
    narrow = width < _NARROW
    for room in ROOMS if narrow else WIDE_ROOMS:
        margin = 0 if narrow else _LABEL + 1
        sheet = Sheet(diagnosis, signs, max(20, width - _LABEL - 1), room, asked or Asked(), margin)
        found = _brief(sheet, width)
        high = _height(found, width)
        if high <= _AT_ONCE and (height is None or high < height):
            break
    go = _LEAST_OF_NARROW if narrow else _LEAST_OF_WIDE
    for left_out in range(len(_LEAST)):
        enough = _AT_ONCE + 1 if _LEAST[left_out] == "don't" else _AT_ONCE
        if (high <= enough or left_out >= go) and (height is None or high < height):
            break
        found = _brief(sheet, width, _LEAST[: left_out + 1])
        high = _height(found, width)
    return Group(found, Text(), _details(diagnosis, signs, width)) if verbose else found


def _height(found: RenderableType, width: int) -> int:
    measure = Console(width=width, color_system=None, legacy_windows=False)
    lines = Segment.split_lines(measure.render(found))
    # A command that is not broken is, by the terminal.
    return sum(max(1, -(-Segment.get_line_length(line) // width)) for line in lines)


def _brief(sheet: Sheet, width: int, without: Sequence[str] = ()) -> RenderableType:
    if "proof" in without:
        # Where there is more is not left out with it.
        sheet = replace(sheet, room=replace(sheet.room, more_beside=False))
    first: list[RenderableType] = [*head(sheet, width), Text()]
    parts = [(label, lines) for label, lines in brief.parts(sheet) if label not in without]
    if parts and not parts[0][0]:
        # The sentence has the whole width.
        first += [*parts[0][1], Text()]
        parts = parts[1:]
    return Group(*first, _Rows(parts, _LABEL))


def _details(diagnosis: Diagnosis, signs: Signs, width: int) -> RenderableType:
    sheet = Sheet(diagnosis, signs, max(20, width - _WIDE_LABEL - 1), ALL)
    best = diagnosis.verdicts[0]
    told = [sheet.text(sheet.spoken(best.sentence)), Text()] if strip.tells(best) else []
    return Group(*told, _Rows([*what_happened.parts(sheet), *what_to_do.parts(sheet)], _WIDE_LABEL))


class _Rows(Struct, frozen=True):
    """Labels, and what each stands for beside it. A table of Rich would say the same, and takes five times as long."""

    parts: Sequence[Part]
    label_width: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        margin = self.label_width + 1
        beside = options.update(width=max(1, options.max_width - margin), overflow="fold")
        for label, found in self.parts:
            head = label
            for one in found:
                long = isinstance(one, WholeLine) and len(one.plain) > beside.max_width
                lines = (
                    [[*one.render(console)]]
                    if isinstance(one, WholeLine)
                    else console.render_lines(one, beside, pad=False)
                )
                for line in lines:
                    yield Segment("" if long else head.ljust(margin), _BOLD)
                    yield from line
                    yield Segment.line()
                    head = ""
