"""A data frame as a terminal table that fits, says what it left out, and works without colour."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .long_lists import foldable, said_group

#: Columns no wider than this are never broken; the others fold where the terminal is narrow, down to that.
_SHORT, _FOLDED = 14, 10
_GAP = 2

#: Columns that name a row, where it cannot be one line.
_NAMES = 2
_INDENT = 4


def table(frame: pl.DataFrame) -> RenderableType:
    return _Fitting(frame)


class _Fitting:
    """A table, or where the window is too narrow for its columns, a paragraph for each row: nothing is cut off."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = _told(frame)
        texts = self._frame.select(pl.all().cast(pl.String).fill_null("").str.strip_chars(" "))
        # Members of a group as people say them; which ranks a row is about, it says one by one.
        groups = [name for name in texts.columns if name == "group"]
        self._texts = texts.with_columns(pl.col(groups).map_elements(said_group, return_dtype=pl.String))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        widths = self._widths(options.max_width)
        if widths is None:
            yield from self._paragraphs()
        else:
            yield self._table(widths)

    def _widths(self, room: int) -> list[int] | None:
        """Of each column; None where they do not fit."""
        columns = self._texts.columns
        if not columns:
            return []
        # Headers break at their words, so that a narrow number keeps a narrow column.
        words = [max(map(len, name.replace("_", " ").split()), default=0) for name in columns]
        widest = [_widest(self._texts[name]) for name in columns]
        wanted = [max(len(name), wide) for name, wide in zip(columns, widest, strict=True)]
        widths = [
            max(word, wide if wide <= _SHORT else _FOLDED) for word, wide in zip(words, widest, strict=True)
        ]
        left = room - _GAP * (len(columns) - 1) - sum(widths)
        if left < 0:
            return None
        # What is left goes first to those that lack little.
        for column in sorted(range(len(columns)), key=lambda column: wanted[column] - widths[column]):
            more = min(left, wanted[column] - widths[column])
            widths[column] += more
            left -= more
        return widths

    def _table(self, widths: list[int]) -> Table:
        found = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
        for name, width in zip(self._texts.columns, widths, strict=True):
            justify = "right" if self._frame.schema[name].is_numeric() else "left"
            found.add_column(name.replace("_", " "), justify=justify, width=width, overflow="fold")  # type: ignore[arg-type]
        for row in self._texts.iter_rows():
            # Text, never markup: a function may well be called "[red]".
            found.add_row(*(Text(foldable(one, width)) for one, width in zip(row, widths, strict=True)))
        return found

    def _paragraphs(self) -> Iterator[RenderableType]:
        names = [name.replace("_", " ") for name in self._texts.columns]
        for row in self._texts.iter_rows():
            said = [f"{name} {value}" for name, value in zip(names, row, strict=True) if value]
            yield Text(", ".join(said[:_NAMES]), style="bold")
            yield Padding(Text(", ".join(said[_NAMES:])), (0, 0, 0, _INDENT))


def _widest(column: pl.Series) -> int:
    found = column.str.len_chars().max()
    return found if isinstance(found, int) else 0


def _told(frame: pl.DataFrame) -> pl.DataFrame:
    """Without columns that say nothing in any row, which a narrow terminal has no room for."""
    if not frame.height:
        return frame
    silent = [
        name
        for name in frame.columns
        if frame[name].is_null().all()
        or (frame.schema[name] == pl.Boolean and not frame[name].any())
        or (frame.schema[name] == pl.String and bool((frame[name].fill_null("") == "").all()))
    ]
    return frame.drop(silent) if len(silent) < frame.width else frame
