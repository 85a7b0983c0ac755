"""Reading by size from bytes that come in pieces of their own size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

_PIECE = 1 << 18


def pieces_of(file: BinaryIO) -> Iterator[bytes]:
    while piece := file.read(_PIECE):
        yield piece


class Stream:
    """`read` never returns more than asked for, and returns nothing only at the end."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._piece = memoryview(b"")

    def read(self, size: int) -> bytes:
        if not self._piece:
            self._piece = memoryview(next(self._pieces, b""))
        data, self._piece = self._piece[:size], self._piece[size:]
        return bytes(data)

    def peek(self, size: int) -> bytes:
        """The first bytes, as many as there are up to `size`, without taking them."""
        while len(self._piece) < size and (piece := next(self._pieces, b"")):
            self._piece = memoryview(bytes(self._piece) + piece)
        return bytes(self._piece[:size])

    def rest(self) -> Iterator[bytes]:
        if self._piece:
            yield bytes(self._piece)
            self._piece = memoryview(b"")
        yield from self._pieces
