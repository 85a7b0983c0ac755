"""Lists of ranks as log lines write them: ``1, 6``, ``0-3,7``, ``[0, 1]``."""

from __future__ import annotations

import re

from rankandfile.model.ranks import MOST_RANKS

_SPAN = re.compile(r"(\d{1,7})(?:\s*-\s*(\d{1,7}))?")

#: More ranks than any line names; a forged range stays small.
_MOST = 1 << 17


def parse(text: str) -> list[int]:
    """The ranks of a list, in its order, each once."""
    ranks: dict[int, None] = {}
    for match in _SPAN.finditer(text):
        first, last = int(match[1]), int(match[2] or match[1])
        if first <= last < min(first + _MOST, MOST_RANKS) and len(ranks) + last - first < _MOST:
            ranks.update(dict.fromkeys(range(first, last + 1)))
    return list(ranks)
