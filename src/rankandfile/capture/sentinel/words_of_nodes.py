"""What the sentinel of a node leaves for the others, once a second."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from rankandfile.model.digest import Frame

from .tree import Row


class Handed(Struct, frozen=True, array_like=True):
    """A call, as another node is told of it; its path by its place in `Excerpt.paths`."""

    asked: int
    path: int
    wall_ns: int
    words: str
    place: int


class Excerpt(Struct, frozen=True):
    """Calls of one group, without gaps."""

    ranks: tuple[int, ...]
    """Those of the node that have made the same ones."""
    first: int
    calls: tuple[Handed, ...]
    paths: tuple[tuple[Frame, ...], ...]


class Word(Struct, frozen=True, omit_defaults=True):
    """What a node leaves."""

    first: int = 1 << 30
    """Its lowest rank: the node with the lowest of all compares."""
    count: int = 0
    """How often it has spoken."""
    rows: tuple[Row, ...] = ()
    names: dict[str, str] = {}
    """Id of a group -> how people call it."""
    asks: dict[str, tuple[int, int]] = {}
    """Of whoever speaks: group -> the numbers between which calls are wanted."""
    handed: dict[str, tuple[Excerpt, ...]] = {}
    told: tuple[str, ...] = ()
    """Groups of which the node has told by itself."""
    host: str = ""
    time: float = 0.0
    """When this was said, by the clock of its host."""
    ends: str = ""
    """It ends the job, and why: so do the others."""


#: Made once: several threads that decode into a type for the first time, all at once, have ended the process.
_WORDS = msgspec.msgpack.Decoder(Word)


def understood(data: bytes) -> Word | None:
    """What another has left, which may be anything."""
    try:
        return _WORDS.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return None
