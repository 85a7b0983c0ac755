"""Where in a chunk of bytes one of many literals may stand, at the speed of memory.

Every literal is at least 7 bytes long, so wherever it stands, one of the chunk's aligned 4-byte words lies wholly
inside it. Looking up those words only, and not every byte, makes the cost independent of the number of literals:
one multiplication and one table look-up per four bytes. What is found that way is confirmed by 8 bytes where the
literal has them, and what is left of it, a place in a thousand lines, by the whole literal: ordinary words begin like
one too often.

What is small is not worth a call of NumPy's, nor a few such files loading it: their words are looked up one by one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from rankandfile.evidence.text.logs.shape import SHORTEST
from rankandfile.evidence.text.logs.shapes import by_needle
from rankandfile.evidence.text.scan import Finder

#: An array of NumPy's, which is loaded only where it is worth it.
Words = Any

_BITS = 18
_MULTIPLIER, _OTHER = 2_654_435_769, 2_246_822_519

#: Words looked up at a time.
_BLOCK = 1 << 16

#: Bytes of one file, or of all that a process reads, from which on loading NumPy is worth it.
SMALL = 1 << 19

#: Bytes up to which looking up the words one by one is faster.
_FEW = 2 << 10


class _Volume:
    """How much this process has been asked to look through."""

    bytes = 0


def finder(size: int, literals: Iterable[bytes] | None = None) -> Finder:
    """What looks for the catalogue's literals in a file of that size."""
    _Volume.bytes += size
    small = _Volume.bytes < SMALL and "numpy" not in sys.modules
    if literals is None:
        return _catalogue(small)
    return one_by_one(tuple(literals)) if small else sampled(tuple(literals))


@cache
def _catalogue(small: bool) -> Finder:
    literals = tuple(literal.encode() for literal, _ in by_needle())
    return one_by_one(literals) if small else sampled(literals)


def one_by_one(literals: Sequence[bytes]) -> Finder:
    """The same as `sampled`, without NumPy."""
    _long_enough(literals)
    stands: dict[bytes, list[tuple[int, bytes]]] = {}
    for literal in literals:
        for i in range(4):
            stands.setdefault(literal[i : i + 4], []).append((i, literal))

    def find(buffer: bytes, begin: int, end: int) -> Sequence[int]:
        found = []
        for at in range(begin, end - 3, 4):
            for i, literal in stands.get(buffer[at : at + 4], ()):
                if at >= i and buffer.startswith(literal, at - i):
                    found.append(at)
                    break
        return found

    return find


def _long_enough(literals: Sequence[bytes]) -> None:
    if any(len(literal) < SHORTEST for literal in literals):
        raise ValueError(f"a literal is shorter than {SHORTEST} bytes")


def plain(literals: Sequence[bytes]) -> Finder:
    def find(buffer: bytes, begin: int, end: int) -> Sequence[int]:
        part = buffer[begin:end]
        return sorted(
            at
            for literal in [one for one in literals if one in part]
            for at in _places(buffer, literal, begin, end)
        )

    return find


def _places(buffer: bytes, literal: bytes, begin: int, end: int) -> Iterator[int]:
    at = buffer.find(literal, begin, end)
    while at >= 0:
        yield at
        at = buffer.find(literal, at + len(literal), end)


def sampled(literals: Sequence[bytes]) -> Finder:
    import numpy as np

    _long_enough(literals)
    # A word that lies inside a literal begins at one of its first four bytes, if it is the first such word.
    heads = {literal[i : i + 8] for literal in literals for i in range(4)}
    multiplier, other, shift = np.uint32(_MULTIPLIER), np.uint32(_OTHER), np.uint32(32 - _BITS)

    def hashed(first: Words, second: Words) -> Words:
        return (first * multiplier + second * other) >> shift

    table, pairs, alone = (np.zeros(1 << _BITS, np.bool_) for _ in range(3))
    words = np.frombuffer(b"".join({head[:4] for head in heads}), "<u4")
    table[(words * multiplier) >> shift] = True
    both = np.frombuffer(b"".join(head for head in heads if len(head) == 8), "<u4")
    pairs[hashed(both[::2], both[1::2])] = True
    short = np.frombuffer(b"".join(head[:4] for head in heads if len(head) < 8), "<u4")
    alone[(short * multiplier) >> shift] = True
    known = [
        (np.uint64((1 << 8 * length) - 1), np.sort(np.frombuffer(b"".join(same), "<u8")))
        for length in sorted({len(head) for head in heads})
        if (same := [head.ljust(8, b"\0") for head in heads if len(head) == length])
    ]
    # Where a word was found, its literal begins there or up to three bytes before.
    beginnings = [
        (np.uint64((1 << 8 * length) - 1), np.sort(np.frombuffer(b"".join(same), "<u8")))
        for length in (SHORTEST, 8)
        if (same := sorted({one[:8].ljust(8, b"\0") for one in literals if min(len(one), 8) == length}))
    ]
    ahead = np.arange(8)
    scratch = np.empty(_BLOCK, np.uint32)
    wholes: dict[bytes, list[tuple[int, bytes]]] = {}
    for literal in literals:
        for i in range(4):
            wholes.setdefault(literal[i : i + 8], []).append((i, literal))
    lengths = sorted({len(head) for head in wholes}, reverse=True)

    def stands(buffer: bytes, at: int) -> bool:
        """Whether a whole literal has its word at this place."""
        for length in lengths:
            for i, literal in wholes.get(buffer[at : at + length], ()):
                if at >= i and buffer.startswith(literal, at - i):
                    return True
        return False

    def look_up(chunk: Words) -> Words:
        """Places of words that are some literal's: block by block, each of which stays in the processor's cache."""
        found = []
        for start in range(0, len(chunk), _BLOCK):
            block = chunk[start : start + _BLOCK]
            keys = scratch[: len(block)]
            np.multiply(block, multiplier, out=keys)
            np.right_shift(keys, shift, out=keys)
            hits = np.flatnonzero(table.take(keys))
            hits += start
            found.append(hits)
        return np.concatenate(found)

    few = one_by_one(literals)

    def begun(buffer: bytes, places: Words) -> Words:
        """Of those places the ones where, by its first bytes, a literal may stand: ordinary words end alike."""
        everything = np.frombuffer(buffer, np.uint8)
        maybe = np.zeros(len(places), np.bool_)
        for before in range(4):
            inside = (places[:, None] + (ahead - before)).clip(0, len(buffer) - 1)
            eight = everything[inside].view("<u8")[:, 0]
            for mask, ones in beginnings:
                maybe |= _among(eight & mask, ones)
        return places[maybe]

    def find(buffer: bytes, begin: int, end: int) -> Sequence[int]:
        if end - begin <= _FEW:
            return few(buffer, begin, end)
        count = (end - begin) // 4
        chunk = np.frombuffer(buffer, "<u4", count, begin)
        hits = look_up(chunk)
        if not len(hits):
            return []
        first, second = chunk[hits], chunk[np.minimum(hits + 1, count - 1)]
        if hits[-1] == count - 1:
            rest = buffer[begin + 4 * count : min(end, begin + 4 * count + 4)]
            second[-1] = int.from_bytes(rest, "little")
        maybe = pairs[hashed(first, second)] | alone[(first * multiplier) >> shift]
        hits, first, second = hits[maybe], first[maybe], second[maybe]
        if not len(hits):
            return []
        eight = first.astype(np.uint64) | (second.astype(np.uint64) << np.uint64(32))
        sure = np.zeros(len(hits), np.bool_)
        for mask, ones in known:
            sure |= _among(eight & mask, ones)
        places = hits[sure] * 4 + begin
        return [at for at in begun(buffer, places).tolist() if stands(buffer, at)]

    return find


def _among(values: Words, ones: Words) -> Words:
    """Which of the values are in a sorted array."""
    import numpy as np

    return ones[np.minimum(np.searchsorted(ones, values), len(ones) - 1)] == values
