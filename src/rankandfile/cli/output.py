"""Printing a table in the format that was asked for."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from typer import Option
from typer.models import OptionInfo

from .console import PIPE_WIDTH, err, out, write_raw
from .errors import UserError, told_as

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console, RenderableType

T = TypeVar("T")

#: What makes a spreadsheet run a cell, in wide letters too; where semicolons part cells, one begins behind each. A
#: number with its sign is none of them.
_FORMULA = "(^|[;\t\r\n])([\t\r\n \u00a0\ufeff]*[=+@\uff1d\uff0b\uff0d\uff20-])"
_SPREADSHEETS = (".tsv", ".tab")
_TEXTS = ("", ".txt")
_STREAMS = ("-", "/dev/stdout")
TABBED = (*_TEXTS, *_SPREADSHEETS)
"""Suffixes of a table as text."""


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


def may_be_written(output: Path | None) -> Path | None:
    """The user's error before anything is read, where a file cannot be written."""
    if output is not None:
        _no_stream(output, "a file beside what is printed is meant")
        with told_as(f"cannot write {output}"):
            if output.is_dir():
                raise UserError(f"cannot write {output}: it is a folder")
            if not output.parent.is_dir():
                raise UserError(f"cannot write {output}: no folder {output.parent}")
            if not os.access(output if output.exists() else output.parent, os.W_OK):
                raise UserError(f"cannot write {output}: permission denied")
    return output


def _may_be_printed(output: Path | None) -> Path | None:
    return may_be_written(None if output is not None and str(output) in _STREAMS else output)


def may_be_folder(output: Path | None) -> Path | None:
    """The user's error before anything is read, where a folder cannot be made."""
    if output is not None:
        _no_stream(output, "a folder is meant")
        with told_as(f"cannot write {output}"):
            there = next(one for one in (output, *output.parents, Path()) if one.exists())
        if not there.is_dir():
            raise UserError(f"cannot write {output}: {there} is a file")
        if there != output and _named_as_file(output):
            raise UserError(f"-o {output}: the name of a file; what is written goes into a folder: -o DIR")
        if not os.access(there, os.W_OK):
            raise UserError(f"cannot write {output}: permission denied")
    return output


def _no_stream(output: Path, meant: str) -> None:
    if str(output) in _STREAMS:
        raise UserError(f"cannot write {output}: {meant}; name one")


def _named_as_file(output: Path) -> bool:
    """``page.html``, and not ``case-1.2``."""
    from mimetypes import MimeTypes

    kind, packed = MimeTypes().guess_type(output.name)
    return kind is not None or packed is not None


def told_by_suffix(output: Path, formats: type[Enum], texts: Iterable[str] = _TEXTS) -> str:
    """The format in which a file is written where none was asked for: `text`, or the one that its suffix names."""
    kept = {f".{one.value}": str(one.value) for one in formats if one.value != "text"}
    return of_suffix(output, {**kept, **dict.fromkeys(texts, "text")})


def of_suffix(output: Path, known: Mapping[str, T], told: str = "", name_it: str = "--format") -> T:
    """What is known by the suffix of a file. `told`: the suffixes in words; `name_it`: what else would tell.

    Raises `UserError` for another suffix: whoever writes w.svg wants a picture, and no table under its name.
    """
    try:
        return known[output.suffix.lower()]
    except KeyError:
        told = told or ", ".join(filter(None, known))
        otherwise = f"; or name it with {name_it}" if name_it else ""
        raise UserError(f"-o {output}: the suffix tells the format: {told}{otherwise}") from None


def file_output(help: str, stream: bool = False) -> OptionInfo:
    """`-o FILE` of a command: that it cannot be written is said before anything is read. `stream`: without it, the
    same is printed, so that is what `-o -` is."""
    return _output("FILE", _may_be_printed if stream else may_be_written, help)


def page_output(help: str) -> OptionInfo:
    """`-o FILE` of a page for a browser, which nothing else opens."""
    return _output("FILE", may_be_page, help)


def may_be_page(output: Path | None) -> Path | None:
    if output is not None:
        of_suffix(output, dict.fromkeys((".html", ".htm", ""), "page"), ".html", name_it="")
    return may_be_written(output)


def folder_output(help: str) -> OptionInfo:
    """`-o DIR`, in the same way."""
    return _output("DIR", may_be_folder, help)


def _output(metavar: str, callback: Callable[[Path | None], Path | None], help: str) -> OptionInfo:
    option: OptionInfo = Option("--output", "-o", metavar=metavar, callback=callback, help=help)
    return option


OutputOption = Annotated[
    Path | None,
    file_output(
        "Write all of it to this file. Its suffix tells the format: .json, .csv, .parquet, .tsv or .txt for tabbed "
        "text.",
        stream=True,
    ),
]
TextFile = Annotated[
    Path | None,
    file_output("Write it to this file. Its suffix tells the format: .json, or .txt.", stream=True),
]
LimitOption = Annotated[int, Option("--limit", "-n", min=0, help="Rows to print as text; 0 for all.")]


def format_of_table(output: Path | None, asked: Format) -> Format:
    """The format that was asked for, else that of the file. Before anything is read: raises `UserError`."""
    if asked is not Format.text or output is None:
        return asked
    return Format(told_by_suffix(output, Format, TABBED))


def emit(
    frame: pl.DataFrame,
    format: Format,
    output: Path | None,
    *,
    brief: list[str] | None = None,
    limit: int = 0,
    what: str = "rows",
) -> None:
    """Print the whole frame in a machine format, or its `brief` columns and first `limit` rows as text.

    A file gets all of it.
    """
    if format is Format.text:
        if output is None:
            _text(frame, brief or frame.columns, limit, what)
        else:
            lines = _flat(frame)
            lines = _inert(lines) if output.suffix.lower() in _SPREADSHEETS else lines
            write_bytes(lines.write_csv(separator="\t").encode(), output)
        return
    if format is Format.parquet and output is None and sys.stdout.isatty():
        raise UserError("Parquet is binary: name a file with -o, or redirect the output")
    write_bytes(_encoded(frame, format), output)


def _encoded(frame: pl.DataFrame, format: Format) -> bytes:
    """In memory first: where a disk is full, Polars does not say so in the system's words."""
    if format is Format.json:
        return f"{frame.write_json()}\n".encode()
    if format is Format.csv:
        return _inert(frame).write_csv().encode()
    frame.write_parquet(target := io.BytesIO())
    return target.getvalue()


def _inert(frame: pl.DataFrame) -> pl.DataFrame:
    """Words that a spreadsheet would run as a formula begin with an apostrophe; numbers are numbers."""
    import polars as pl

    words = pl.col(pl.String, pl.Categorical).cast(pl.String)
    made = words.str.replace_all(_FORMULA, "${1}'${2}")
    names = [re.sub(_FORMULA, r"\1'\2", name) for name in frame.columns]
    return frame.with_columns(made.name.keep()).rename(dict(zip(frame.columns, names, strict=True)))


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Each row on a line of its own."""
    import polars as pl

    return frame.with_columns(
        pl.col(pl.String, pl.Categorical).cast(pl.String).str.replace_all(r"[\t\r\n]+", " ")
    )


def write_text(text: str, output: Path | None) -> None:
    """To the file, or to standard output: UTF-8 in either case."""
    write_bytes(text.encode("utf-8", "replace"), output)


def write_bytes(data: bytes, output: Path | None) -> None:
    if output is None:
        write_raw(data)
    else:
        with told_as(f"cannot write {output}"):
            output.write_bytes(data)


def as_json(format: TextOrJson, output: Path | None) -> bool:
    """Asked before anything is read: raises `UserError` where a file's suffix tells neither."""
    if format is TextOrJson.text and output is not None:
        return told_by_suffix(output, TextOrJson) == "json"
    return format is TextOrJson.json


def show(what: RenderableType, output: Path | None) -> None:
    """To the terminal; to a file as a wide terminal without colour has it."""
    if output is None:
        out.print(what)
    else:
        write_text(printed(what), output)


def printed(what: RenderableType, on: Console | None = None, width: int = PIPE_WIDTH) -> str:
    """What a console would show, without the blanks that tables are filled up with; by default without colour."""
    if on is None:
        from rich.console import Console

        on = Console(
            file=io.StringIO(), highlight=False, markup=False, color_system=None, legacy_windows=False
        )
    with on.capture() as shown:
        # A command that is to be copied may be longer than a line.
        on.print(what, width=width, crop=False)
    return "".join(f"{line.rstrip(' ')}\n" for line in shown.get().splitlines())


def _text(frame: pl.DataFrame, brief: list[str], limit: int, what: str) -> None:
    from rankandfile.render.terminal_table import table

    if not frame.height:
        err.print(f"no {what} to show", style="dim")
        return
    shown = frame.select(brief) if not limit else frame.select(brief).head(limit)
    left_out = frame.height - shown.height
    out.print(table(shown))
    if left_out:
        err.print(f"{left_out:,} more {what} not shown: filter, or use -n 0", style="dim")
