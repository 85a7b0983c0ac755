"""A data frame as a terminal table that fits, says what it left out, and works without colour."""

from __future__ import annotations

import polars as pl
from rich import box
from rich.table import Table
from rich.text import Text

#: Columns no wider than this are never broken; the others fold where the terminal is narrow.
SHORT = 14


def table(frame: pl.DataFrame, title: str | None = None) -> Table:
    found = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    texts = frame.select(pl.all().cast(pl.String).fill_null(""))
    for name, dtype in frame.schema.items():
        # Headers break at their words, so that a narrow number keeps a narrow column.
        header = name.replace("_", " ")
        widest = texts[name].str.len_chars().max() or 0
        short = isinstance(widest, int) and widest <= SHORT
        found.add_column(
            header,
            justify="right" if dtype.is_numeric() else "left",
            no_wrap=False,
            min_width=widest if short and isinstance(widest, int) else None,
            overflow="fold",
        )
    for row in texts.iter_rows():
        # Text, never markup: a function may well be called "[red]".
        found.add_row(*(Text(value) for value in row))
    return found
