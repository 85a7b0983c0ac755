"""Bytes of a launch file as text that is safe to look at and to print."""

from __future__ import annotations

import re

MOST_BYTES = 4 << 20
"""Launch files are kilobytes; an environment with everything a cluster exports is a hundred."""
MOST_VALUE = 4096
"""Longest value of a variable that is kept: paths end there."""

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_SHELL_VARIABLE = re.compile(r"\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\})")
_KEPT = frozenset("\n\t\0")


def plain(data: bytes) -> str:
    """Text without control and private-use characters: lines stay lines, whatever the file would do to a terminal."""
    text = data[:MOST_BYTES].decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in _KEPT else "?" for char in text)


def short(text: str, most: int = MOST_VALUE) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def never_expanded(value: str) -> str:
    """What looks like a shell's ``$NAME`` or ``~`` in a value that no shell will ever see; empty if nothing does."""
    found = _SHELL_VARIABLE.search(value)
    return found[0] if found else "~" if value.startswith("~") else ""
