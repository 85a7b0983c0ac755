"""`-` among paths: what comes through the pipe, as a file that is there until the command ends."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from .console import err
from .errors import told_as

_STDIN = Path("-")


def with_standard_input(paths: Sequence[Path]) -> list[Path]:
    return [_spooled() if path == _STDIN else path for path in paths]


@cache
def _spooled() -> Path:
    if sys.stdin.isatty():
        err.print("reading from the terminal: paste, and end with Ctrl-D", style="dim")
    # It goes with the process, however that ends in an orderly way.
    folder = tempfile.TemporaryDirectory(prefix="raf-")
    _kept.append(folder)
    file = Path(folder.name) / "stdin"
    with told_as("standard input"), file.open("wb") as to:
        shutil.copyfileobj(sys.stdin.buffer, to)
    return file


_kept: list[tempfile.TemporaryDirectory[str]] = []
