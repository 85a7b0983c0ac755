"""Printing a table in the format that was asked for."""

from __future__ import annotations

import re
import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from .console import err, out
from .errors import UserError

if TYPE_CHECKING:
    import polars as pl


#: What makes a spreadsheet run a cell; a number with its sign is none of them.
_FORMULA = r"^[\t\r\n ]*[=+@-]"


class Format(str, Enum):
    text = "text"
    json = "json"
    csv = "csv"
    parquet = "parquet"


class TextOrJson(str, Enum):
    text = "text"
    json = "json"


FormatOption = Annotated[Format, Option("--format", "-f", help="How to print it.")]
TextOrJsonOption = Annotated[TextOrJson, Option("--format", "-f", help="How to print it.")]
OutputOption = Annotated[Path | None, Option("--output", "-o", help="Write to this file instead.")]
LimitOption = Annotated[int, Option("--limit", "-n", min=0, help="Rows to print as text; 0 for all.")]


def emit(
    frame: pl.DataFrame,
    format: Format,
    output: Path | None,
    *,
    brief: list[str] | None = None,
    limit: int = 0,
    what: str = "rows",
) -> None:
    """Print the whole frame in a machine format, or its `brief` columns and first `limit` rows as text."""
    if format is Format.text:
        _text(frame, output, brief or frame.columns, limit, what)
        return
    if format is Format.parquet and output is None and sys.stdout.isatty():
        raise UserError("Parquet is binary: name a file with -o, or redirect the output")
    if format is Format.json:
        text = frame.write_json()
        if output is not None:
            output.write_text(text, encoding="utf-8")
        else:
            out.file.write(text + "\n")
        return
    target = output if output is not None else sys.stdout.buffer
    if format is Format.csv:
        _inert(frame).write_csv(target)
    else:
        frame.write_parquet(target)


def _inert(frame: pl.DataFrame) -> pl.DataFrame:
    """Words that a spreadsheet would run as a formula begin with an apostrophe; numbers are numbers."""
    import polars as pl

    words = pl.col(pl.String, pl.Categorical).cast(pl.String)
    made = pl.when(words.str.contains(_FORMULA)).then(pl.lit("'") + words).otherwise(words)
    names = [f"'{name}" if re.match(_FORMULA, name) else name for name in frame.columns]
    return frame.with_columns(made.name.keep()).rename(dict(zip(frame.columns, names, strict=True)))


def _text(frame: pl.DataFrame, output: Path | None, brief: list[str], limit: int, what: str) -> None:
    from rich.console import Console

    from rankandfile.render.terminal_table import table

    shown = frame.select(brief) if not limit else frame.select(brief).head(limit)
    left_out = frame.height - shown.height
    if output is not None:
        with output.open("w", encoding="utf-8") as file:
            Console(file=file, width=200).print(table(shown))
    else:
        out.print(table(shown))
    if left_out:
        err.print(f"{left_out:,} more {what} not shown: filter, or use -n 0", style="dim")
