"""Nodes by the thousand: some dozens are a block, whose first node reads the others and leaves what they say as one
word; the first of all reads those. So nobody reads more than a few hundred words a second.

A node's block follows from its name and from how many blocks there are: nobody deals them out, and who comes later
moves nobody but where the number of blocks doubles.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from msgspec.structs import replace

from .tree import merged
from .words_of_nodes import Excerpt, Word

#: So many nodes read each other's words; more of them are parted into blocks of about as many.
WIDTH = 64


def blocks_of(nodes: int) -> int:
    """How many blocks so many nodes make: a power of two."""
    return 1 << max((nodes - 1) // WIDTH, 0).bit_length()


def block(name: str, blocks: int) -> int:
    """Which one of so many a node belongs to."""
    return zlib.crc32(name.encode()) % blocks


def word_name(number: int, blocks: int) -> str:
    """Under which name a block's word is left. Who counts other blocks reads other words: none is heard twice."""
    return f"block-{number}-of-{blocks}"


def combined(words: Sequence[Word]) -> Word:
    """What nodes say, as the first of them says it for all."""
    first = min(words, key=lambda word: word.first)
    handed = {
        group: _alike([excerpt for word in words for excerpt in word.handed.get(group, ())])
        for group in {group for word in words for group in word.handed}
    }
    return replace(
        first,
        rows=tuple(merged(row for word in words for row in word.rows)),
        names={group: name for word in words for group, name in word.names.items()},
        handed=handed,
        told=tuple(sorted({group for word in words for group in word.told})),
        ends=next((word.ends for word in words if word.ends), ""),
    )


def _alike(excerpts: Sequence[Excerpt]) -> tuple[Excerpt, ...]:
    """Ranks of several nodes that have made the same calls, together."""
    ranks: dict[tuple[object, ...], set[int]] = {}
    kept: dict[tuple[object, ...], Excerpt] = {}
    for one in excerpts:
        # When each made them is its own.
        same = (one.first, one.paths, tuple((call.asked, call.path, call.words) for call in one.calls))
        ranks.setdefault(same, set()).update(one.ranks)
        kept.setdefault(same, one)
    return tuple(replace(one, ranks=tuple(sorted(ranks[same]))) for same, one in kept.items())
