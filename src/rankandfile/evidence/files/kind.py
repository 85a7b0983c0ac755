"""What a kind of file is: its name, the signs by which it is recognised, and what reads it.

Each is one module of `files/kinds`, which calls it `KIND`; a module that is put there is asked with the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.files.json_outline import outline

#: Enough of a file's beginning to tell what it is.
HEAD = 4096


class Head(Struct, frozen=True, dict=True):
    """The first `HEAD` bytes of a file (all of it, if it is smaller), and its name."""

    data: bytes
    path: str
    """As the user knows the file."""

    @cached_property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @cached_property
    def text(self) -> str | None:
        """The beginning of a text; None of what is none."""
        if b"\0" in self.data:
            return None
        text = self.data.decode("utf-8", "replace").removeprefix("\ufeff")
        return text if text.count("\ufffd") <= len(text) // 8 + 1 else None

    @cached_property
    def json(self) -> str | None:
        """The beginning of a JSON document, or of lines that each are one, or begin as if."""
        return self.text if self.text is not None and self.text.lstrip()[:1] in ("{", "[") else None

    @cached_property
    def words(self) -> str | None:
        """The beginning of a text that is no JSON."""
        return self.text if self.text is not None and self.json is None else None

    @cached_property
    def keys(self) -> tuple[set[str], set[str]]:
        """Of a JSON document: the outermost object's keys, and those of the objects right inside."""
        return outline(self.json) if self.json is not None else (set(), set())


class Sign(NamedTuple):
    """One way to recognise a kind of file. All kinds' signs are asked in the order of their places."""

    place: int
    """First bytes come below 100, keys of JSON below 200, words below 300, names below 400, last resorts after them."""
    holds: Callable[[Head], bool]


class FileKind(Struct, frozen=True):
    name: str
    signs: tuple[Sign, ...]
    decode: Callable[[Path, str], Decoded] | None = None
    """What the file holds, by its path and by the name that the user knows. None: it is no evidence.

    It runs in a decoding process, under limits of memory and time. Raises OSError only.
    """
    is_dump: bool = False
    """It becomes calls: one beyond `Limits.dump_bytes` is not decoded."""
