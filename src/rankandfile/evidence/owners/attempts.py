"""Several attempts, or several dump times, of one job in one folder: which files speak of one hang?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import NamedTuple

from rankandfile.evidence.owners.attempt_cuts import SILENCE, split
from rankandfile.evidence.owners.dump_facts import Facts, duration

from .several_files import copies_of_rings, settle


class Attempt(NamedTuple):
    number: int
    """From 1, the earliest."""
    dumps: tuple[int, ...]
    """Positions in the list of facts."""
    ranks: frozenset[int]
    first_ns: int
    last_ns: int


class Sorted(NamedTuple):
    attempts: tuple[Attempt, ...]
    chosen: int | None
    """The number of the attempt to be diagnosed; None if no file has a call with a time."""
    set_aside: tuple[str | None, ...]
    """Per file, why it does not enter the case; None if it does."""


def attempts(facts: Sequence[Facts], chosen: int | None = None) -> Sorted:
    """Tell the attempts apart and choose one: the one of that number, else the latest that has most of its ranks."""
    copies = copies_of_rings(facts)
    whole = [i for i, fact in enumerate(facts) if fact.timed and i not in copies]
    timed = sorted(whole, key=lambda i: (facts[i].last_ns, i))
    found = [_attempt(number, facts, part) for number, part in enumerate(split(facts, timed), 1)]
    attempt = _choose(found, facts, chosen)
    reasons: list[str | None] = [copies.get(i) for i in range(len(facts))]
    if attempt is not None:
        for other in found:
            if other.number != attempt.number:
                for index in other.dumps:
                    reasons[index] = _another_run(facts[index], other, attempt)
        for index, fact in enumerate(facts):
            if not fact.timed and index not in copies:
                reasons[index] = _untimed(fact, attempt, len(found))
    settle(facts, reasons)
    return Sorted(tuple(found), attempt.number if attempt else None, tuple(reasons))


def _attempt(number: int, facts: Sequence[Facts], members: list[int]) -> Attempt:
    return Attempt(
        number,
        tuple(sorted(members)),
        frozenset(rank for i in members if (rank := facts[i].rank) is not None),
        min(facts[i].first_ns or 0 for i in members),
        max(facts[i].last_ns or 0 for i in members),
    )


def _choose(found: list[Attempt], facts: Sequence[Facts], chosen: int | None) -> Attempt | None:
    named = [attempt for attempt in found if attempt.number == chosen]
    if named:
        return named[0]
    if not found:
        return None
    size = max(_size(attempt) for attempt in found)
    for attempt in reversed(found):
        expected = min(size, max((facts[i].world or 0 for i in attempt.dumps), default=0) or size)
        if 2 * _size(attempt) >= expected:
            return attempt
    return found[-1]


def _size(attempt: Attempt) -> int:
    return len(attempt.ranks) or len(attempt.dumps)


def _another_run(fact: Facts, other: Attempt, attempt: Attempt) -> str:
    begun = datetime.fromtimestamp(attempt.first_ns // 10**9, timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
    last, first = fact.last_ns or 0, fact.first_ns or 0
    if other.number > attempt.number:
        after = duration(first - attempt.last_ns)
        return (
            f"its first call is {after} after the last call of the attempt diagnosed: a later run, which left "
            f"{_files(len(other.dumps))} (attempt {other.number})"
        )
    if last < attempt.first_ns:
        before = duration(attempt.first_ns - last)
        return (
            f"its last call is {before} before the first call (at {begun}) of the {_files(len(attempt.dumps))} "
            f"diagnosed: an earlier run (attempt {other.number})"
        )
    before = duration(attempt.last_ns - last)
    return (
        f"its last call is {before} before that of the {_files(len(attempt.dumps))} diagnosed, and the ranks in both "
        f"started over in between: an earlier run (attempt {other.number})"
    )


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


def _untimed(fact: Facts, attempt: Attempt, count: int) -> str | None:
    """A file without calls has only the time when it was written; and that may be when it was copied."""
    if fact.written_ns <= 0:
        return None
    if fact.written_ns < attempt.first_ns - SILENCE:
        before = duration(attempt.first_ns - fact.written_ns)
        return f"it has no call with a time, and was written {before} before the first call of the attempt diagnosed"
    if attempt.number < count and fact.written_ns > attempt.last_ns + SILENCE:
        after = duration(fact.written_ns - attempt.last_ns)
        return (
            f"it has no call with a time, and was written {after} after the last call of the attempt diagnosed, "
            f"which a later one followed"
        )
    return None
