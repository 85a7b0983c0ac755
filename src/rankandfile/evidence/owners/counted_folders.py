"""Attempts that folders count (`attempt_0/3/stderr.log`), for logs whose lines tell no time.

An attempt that failed often leaves no more than a traceback, which has no date: without its folder it would be told of
the attempt that hangs.

In: the paths of logs. Out: which of them are of one attempt, by its number there.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

_ATTEMPT = re.compile(r"(?:^|/)(?:attempt|restart)[_-]?(\d{1,6})(?=/)")


class Counted(NamedTuple):
    before: str
    """The folder in which attempts are counted."""
    number: int
    behind: str
    """Where the log lies in the attempt's folder."""


def counted(source: str) -> Counted | None:
    found = _ATTEMPT.search(source)
    return Counted(source[: found.start()], int(found[1]), source[found.end() :]) if found else None


def by_number(sources: Sequence[str], dated: Container[int]) -> list[frozenset[int]]:
    """Positions of the logs of each attempt, the earliest first; nothing where not one log is there twice, or where two
    that are one after the other have times, which do not say so."""
    logs: dict[int, set[int]] = defaultdict(set)
    seen: dict[tuple[str, str], list[int]] = defaultdict(list)
    for i, source in enumerate(sources):
        if (one := counted(source)) is not None:
            logs[one.number].add(i)
            seen[one.before, one.behind].append(i)
    twice = [found for found in seen.values() if len(found) > 1]
    if not twice or any(sum(i in dated for i in found) > 1 for found in twice):
        return []
    return [frozenset(logs[number]) for number in sorted(logs)]


def joining(
    sources: Sequence[str], runs: Sequence[frozenset[int]], undated: Iterable[int]
) -> Mapping[int, int]:
    """Logs without a time -> the run whose dated logs are of the same attempt; of one run alone."""
    known: dict[tuple[str, int], set[int]] = defaultdict(set)
    for number, logs in enumerate(runs):
        for i in logs:
            if (one := counted(sources[i])) is not None:
                known[one.before, one.number].add(number)
    found: dict[int, int] = {}
    for i in undated:
        one = counted(sources[i])
        of = known.get((one.before, one.number), set()) if one is not None else set[int]()
        if len(of) == 1:
            found[i] = next(iter(of))
    return found
