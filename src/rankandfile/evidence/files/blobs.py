"""A file as the decoders see it: what a person calls it, and where its bytes are."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

_DIGITS = re.compile(r"([0-9]+)")
_NAME = 1024
"""Longest name that is shown: names in archives can be megabytes long."""


class Blob(Struct, frozen=True):
    source: str
    """What a person calls it: the path as given, with ``!/`` between an archive and its member."""
    path: Path
    """A file that can be opened: the original, or a spooled copy under a number."""
    size: int
    written_ns: int
    """When the file was last written, as the file system or the archive says; 0 if neither does."""


def shown(name: str) -> str:
    """A name that is safe to print and to store: no control characters, no lone surrogates, not endless."""
    if len(name) > _NAME:
        name = name[: _NAME - 1] + "…"
    if name.isascii() and name.isprintable():
        return name
    name = name.encode("utf-8", "surrogateescape" if _escaped(name) else "replace").decode("utf-8", "replace")
    return "".join(letter if letter.isprintable() else "?" for letter in name)


def _escaped(name: str) -> bool:
    """Only surrogates that stand for single bytes of a file name can be turned back into those bytes."""
    return all(0xDC80 <= ord(letter) <= 0xDCFF for letter in name if 0xD800 <= ord(letter) <= 0xDFFF)


def natural(name: str) -> tuple[tuple[str, int, str], ...]:
    """Sorting key that puts rank_10 after rank_9."""
    parts = _DIGITS.split(name)
    numbers = (number.lstrip("0") for number in parts[1::2])
    # A number sorts by its length and then its digits: it may be longer than int() accepts.
    keys = [(text, len(number), number) for text, number in zip(parts[::2], numbers, strict=False)]
    return (*keys, (parts[-1], -1, ""), (name, 0, ""))
