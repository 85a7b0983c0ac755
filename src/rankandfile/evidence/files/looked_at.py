"""What lies in paths that hold no evidence: so many files, of these kinds, by their names alone."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

_MOST, _SHOWN = 100_000, 4


def looked_at(paths: Sequence[Path]) -> str:
    """``31 files: 29 .py, 2 .md``; ``no file`` where there is none."""
    kinds: Counter[str] = Counter()
    for name in _names(paths):
        kinds[Path(name).suffix.lower() or "without a suffix"] += 1
        if kinds.total() == _MOST:
            break
    total = kinds.total()
    if not total:
        return "no file"
    first = [f"{number:,} {kind}" for kind, number in kinds.most_common(_SHOWN)]
    more = ["others"] if len(kinds) > _SHOWN else []
    size = f"{total:,} file{'' if total == 1 else 's'}"
    return f"{size}: {', '.join([*first, *more])}" if len(kinds) > 1 else f"{size}, {next(iter(kinds))}"


def _names(paths: Sequence[Path]) -> Iterator[str]:
    for path in paths:
        if path.is_dir():
            for _, _, names in os.walk(path):
                yield from names
        else:
            yield path.name
