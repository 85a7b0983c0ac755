"""Sets of ranks as people write them: ``0-6,8``."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from itertools import pairwise

#: More ranks than any job has, by far: a number beyond is damage or an attack, and nothing counts up to it.
MOST_RANKS = 1 << 20


def format_ranks(ranks: Iterable[int]) -> str:
    """``[0, 1, 2, 5]`` as ``0-2,5``; two neighbours stay a list (``0,1``), as one would say them."""
    spans: list[tuple[int, int]] = []
    for rank in sorted(set(ranks)):
        if spans and rank == spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], rank)
        else:
            spans.append((rank, rank))
    words: list[str] = []
    for first, last in spans:
        if last - first >= 2:
            words.append(f"{first}-{last}")
        else:
            words.extend(str(rank) for rank in range(first, last + 1))
    return ",".join(words)


def parse_ranks(text: str) -> list[int]:
    """The inverse of `format_ranks`. Raises ValueError with a sentence that a person can act on."""
    ranks: set[int] = set()
    for word in text.replace(" ", "").split(","):
        if not word:
            continue
        first, dash, last = word.partition("-")
        if not first.isascii() or not first.isdigit() or (dash and not (last.isascii() and last.isdigit())):
            raise ValueError(f"'{word}' is not a rank or a range of ranks such as 0-6")
        low, high = int(first), int(last or first)
        if high < low or high >= 1 << 31:
            raise ValueError(f"'{word}' is not a range of ranks")
        if high - low > 1 << 20:
            raise ValueError(f"'{word}' names more ranks than any job has")
        ranks.update(range(low, high + 1))
    return sorted(ranks)


@functools.lru_cache(1024)
def brief_ranks(ranks: str, most: int) -> str:
    """For people, in so many characters: `0,8,...,8184` where the step is the same all along; else the first ones,
    and how many there are."""
    if len(ranks) <= most or "..." in ranks:
        return ranks
    numbers = parse_ranks(ranks)
    if len({after - before for before, after in pairwise(numbers)}) == 1:
        return f"{numbers[0]},{numbers[1]},...,{numbers[-1]}"
    return f"{ranks[:most].rpartition(',')[0]},... ({len(numbers):,} ranks)"
