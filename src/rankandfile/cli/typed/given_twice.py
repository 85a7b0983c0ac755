"""`-o` given twice: the last one would count, and the first file would never be written, without a word."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rankandfile.cli.errors import UserError


def told_once(order: Iterable[Any]) -> None:
    """`order`: parameters as they were given, one as often as it was."""
    seen = set()
    for param in order:
        if param.name == "output" and param.name in seen:
            raise UserError(
                f"{'/'.join(param.opts)} was given twice, and one file is written: ask once for each"
            )
        seen.add(param.name)
