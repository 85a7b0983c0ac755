"""`-` among paths: what comes through the pipe, as a file that is there until the command ends."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from .console import err
from .errors import UserError, told_as

_STDIN = Path("-")
_NAME = "standard input"


def with_standard_input(paths: Sequence[Path]) -> list[Path]:
    return [_spooled() if path == _STDIN else path for path in paths]


def is_piped(paths: Sequence[Path]) -> bool:
    return _STDIN in paths


@cache
def _spooled() -> Path:
    if sys.stdin.isatty():
        err.print("reading from the terminal: paste, and end with Ctrl-D", style="dim")
    # It goes with the process, however that ends in an orderly way.
    folder = tempfile.TemporaryDirectory(prefix="raf-")
    _kept.append(folder)
    file = Path(folder.name) / "stdin"
    with told_as(_NAME), file.open("wb") as to:
        shutil.copyfileobj(sys.stdin.buffer, to)
    if not file.stat().st_size:
        raise UserError(f"{_NAME}: nothing came")
    return file


@contextmanager
def by_its_name() -> Iterator[None]:
    """Nobody has named the file that holds it, so no complaint does."""
    try:
        yield
    except UserError as error:
        said = str(error)
        for folder in _kept:
            said = said.replace(str(Path(folder.name) / "stdin"), _NAME)
        raise UserError(said) from error


_kept: list[tempfile.TemporaryDirectory[str]] = []
