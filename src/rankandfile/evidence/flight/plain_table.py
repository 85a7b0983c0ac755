"""Text tables whose columns are told apart by where nothing is printed (tabulate's "plain" format)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

_HEADER = re.compile(r"\S+")
_INK = bytes(0x30 if letter in b" \t" else 0x31 for letter in range(256))


def rows(lines: Sequence[str]) -> list[dict[str, str]]:
    """The rows under a header of one-word titles, as text by title.

    Numbers stand right and words left under their titles, and cells may have blanks in them. So a column ends
    at the last gap of two blanks, in all lines, between its title and the next.
    """
    titles = list(_HEADER.finditer(lines[0])) if lines else []
    if not titles:
        return []
    ink = 0
    for line in lines:
        marks = line.encode("latin-1", "replace").translate(_INK)
        ink |= int(marks[::-1] or b"0", 2)
    blank = format(ink, "b")[::-1]
    starts = [0]
    for title, following in pairwise(titles):
        gap = blank.rfind("00", title.end(), following.start())
        starts.append(gap + 2 if gap >= 0 else following.start())
    spans = list(zip([title[0] for title in titles], starts, [*starts[1:], None], strict=True))
    return [{name: line[start:end].strip() for name, start, end in spans} for line in lines[1:]]
