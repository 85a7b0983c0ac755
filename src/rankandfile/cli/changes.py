"""Changes to a person's files: shown as a diff, or made."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from .console import out, write_raw

_DIFF_COLOURS = {"+++": "bold", "---": "bold", "@@": "cyan", "+": "green", "-": "red"}


def print_diff(data: bytes) -> None:
    """A unified diff: coloured for a terminal, else byte for byte."""
    if not out.is_terminal:
        # In the file's own encoding and with its line ends: `git apply` compares them.
        write_raw(data)
        return
    for line in data.decode("utf-8", "replace").split("\n")[:-1]:
        style = next((colour for mark, colour in _DIFF_COLOURS.items() if line.startswith(mark)), None)
        out.print(line.rstrip("\r"), style=style, soft_wrap=True)


def rewrite(path: Path, data: bytes) -> None:
    """All of it or nothing, with the mode that the file has."""
    mode = path.stat().st_mode & 0o7777
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
