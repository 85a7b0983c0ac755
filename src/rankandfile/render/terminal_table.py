"""A data frame as a terminal table that fits, says what it left out, and works without colour."""

from __future__ import annotations

import polars as pl
from rich import box
from rich.table import Table
from rich.text import Text

#: Columns no wider than this are never broken; the others fold where the terminal is narrow.
SHORT = 14


def table(frame: pl.DataFrame, title: str | None = None) -> Table:
    found = Table(
        title=title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False, padding=(0, 1, 0, 0)
    )
    texts = _told(frame).select(pl.all().cast(pl.String).fill_null(""))
    for name in texts.columns:
        # Headers break at their words, so that a narrow number keeps a narrow column.
        header = name.replace("_", " ")
        word = max(map(len, header.split()), default=0)
        widest = texts[name].str.len_chars().max() or 0
        short = isinstance(widest, int) and widest <= SHORT
        found.add_column(
            header,
            justify="right" if frame.schema[name].is_numeric() else "left",
            no_wrap=False,
            min_width=max(word, widest) if short and isinstance(widest, int) else word,
            overflow="fold",
        )
    for row in texts.iter_rows():
        # Text, never markup: a function may well be called "[red]".
        found.add_row(*(Text(value) for value in row))
    return found


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
