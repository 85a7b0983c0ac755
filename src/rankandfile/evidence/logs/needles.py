"""Where in a chunk of bytes one of many literals may stand, at the speed of memory.

Every literal is at least 7 bytes long, so wherever it stands, one of the chunk's aligned 4-byte words lies wholly
inside it. Looking up those words only, and not every byte, makes the cost independent of the number of literals:
one multiplication and one table look-up per four bytes. What is found that way is confirmed by 8 bytes where the
literal has them, else by all that the literal has.

Small files are not worth loading NumPy for: a regular expression serves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from .shape import SHORTEST
from .shapes import by_needle

#: Positions in `buffer[begin:end]` inside literals (or where one may be), ascending.
Finder = Callable[[bytes, int, int], Sequence[int]]

_BITS = 18
_MULTIPLIER = 2_654_435_769

#: Below this size the plain way is as fast.
SMALL = 1 << 20


def finder(size: int, literals: Iterable[bytes] | None = None) -> Finder:
    """What looks for the catalogue's literals in a file of that size."""
    if literals is None:
        return _catalogue(size < SMALL)
    return plain(tuple(literals)) if size < SMALL else sampled(tuple(literals))


@cache
def _catalogue(small: bool) -> Finder:
    literals = tuple(literal.encode() for literal, _ in by_needle())
    return plain(literals) if small else sampled(literals)


def plain(literals: Sequence[bytes]) -> Finder:
    pattern = re.compile(b"|".join(re.escape(literal) for literal in literals))

    def find(buffer: bytes, begin: int, end: int) -> Sequence[int]:
        return [match.start() for match in pattern.finditer(buffer, begin, end)]

    return find


def sampled(literals: Sequence[bytes]) -> Finder:
    import numpy as np

    if any(len(literal) < SHORTEST for literal in literals):
        raise ValueError(f"a literal is shorter than {SHORTEST} bytes")
    # A word that lies inside a literal begins at one of its first four bytes, if it is the first such word.
    heads = {literal[i : i + 8] for literal in literals for i in range(4)}
    multiplier, shift = np.uint32(_MULTIPLIER), np.uint32(32 - _BITS)
    table = np.zeros(1 << _BITS, np.bool_)
    words = np.frombuffer(b"".join({head[:4] for head in heads}), "<u4")
    table[(words * multiplier) >> shift] = True
    known = [
        (np.uint64((1 << 8 * length) - 1), np.sort(np.frombuffer(b"".join(same), "<u8")))
        for length in sorted({len(head) for head in heads})
        if (same := [head.ljust(8, b"\0") for head in heads if len(head) == length])
    ]
    scratch = np.empty(0, np.uint32)

    def find(buffer: bytes, begin: int, end: int) -> Sequence[int]:
        nonlocal scratch
        count = (end - begin) // 4
        if count <= 0:
            return []
        chunk = np.frombuffer(buffer, "<u4", count, begin)
        if len(scratch) < count:
            scratch = np.empty(count, np.uint32)
        hashed = scratch[:count]
        np.multiply(chunk, multiplier, out=hashed)
        np.right_shift(hashed, shift, out=hashed)
        hits = np.flatnonzero(table.take(hashed))
        if not len(hits):
            return []
        second = chunk[np.minimum(hits + 1, count - 1)].astype(np.uint64)
        if hits[-1] == count - 1:
            rest = buffer[begin + 4 * count : min(end, begin + 4 * count + 4)]
            second[-1] = int.from_bytes(rest, "little")
        eight = chunk[hits] | (second << np.uint64(32))
        sure = np.zeros(len(hits), np.bool_)
        for mask, ones in known:
            masked = eight & mask
            sure |= ones[np.minimum(np.searchsorted(ones, masked), len(ones) - 1)] == masked
        positions: list[int] = (hits[sure] * 4 + begin).tolist()
        return positions

    return find
