"""Where one attempt ends and the next begins, told from when ranks made their calls.

What holds between the dumps of one attempt, and is used here:

* Their calls overlap in time, or nearly so: a rank that crashed an hour before the others' watchdog fired still
  made its calls while they made theirs. Clocks of hosts differ by minutes, not by hours.
* A recorder's numbers start over when a process does. A file whose first record is 0 shows when its process
  made its first call; what ended before all those began was another run.
* A ring that has wrapped does not show its beginning. Then only hours without a call part two files.
* Ranks that wait for a late one make few calls and then none: they are not another run for that.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable, Sequence, Set
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rankandfile.evidence.owners.dump_facts import Facts

_MINUTE = 60 * 10**9
SKEW = 10 * _MINUTE
"""How far apart the clocks of two hosts may be."""
SILENCE = 60 * _MINUTE
"""How long part of a job may go on without the rest, where the timeout of its calls is not known to be longer."""


def split(facts: Sequence[Facts], order: list[int]) -> list[list[int]]:
    """Cut the files, given in the order of their last calls, wherever a new attempt begins."""
    if not order:
        return []
    certain = _cut_by(_is_long_silence, facts, order, _restarts(facts, order))
    pieces = [order[a:b] for a, b in pairwise([0, *certain, len(order)])]
    return [
        piece[a:b]
        for piece in pieces
        for a, b in pairwise([0, *_cut_by(_is_other_run, facts, piece, frozenset()), len(piece)])
    ]


class _Before(NamedTuple):
    """The files between the latest cut and a silence, taken together."""

    first_ns: int
    last_ns: int
    whole: bool
    """Each of them shows its process's first call."""
    timeout_ns: int


def _cut_by(
    is_cut: Callable[[_Before, int, bool], bool], facts: Sequence[Facts], order: list[int], cuts: Set[int]
) -> list[int]:
    """Positions at which a new attempt begins: the cuts given, and where a silence without any call is one."""
    gaps, begun = _gaps(facts, order), _begun_after(facts, order)
    found: list[int] = []
    before: _Before | None = None
    for at, index in enumerate(order[:-1]):
        fact = facts[index]
        first, whole = fact.first_ns or 0, fact.first_record == 0
        timeout = (fact.timeout_ms or 0) * 10**6
        if before is not None:
            first, whole = min(first, before.first_ns), whole and before.whole
            timeout = max(timeout, before.timeout_ns)
        before = _Before(first, fact.last_ns or 0, whole, timeout)
        if at + 1 in cuts or (gaps[at] > 0 and is_cut(before, int(gaps[at]), begun[at + 1])):
            found.append(at + 1)
            before = None
    return found


def _gaps(facts: Sequence[Facts], order: list[int]) -> npt.NDArray[np.int64]:
    """Behind each file but the last: the time between the last call up to it and the first call of those after."""
    first = np.array([facts[i].first_ns for i in order], dtype=np.int64)
    last = np.array([facts[i].last_ns for i in order], dtype=np.int64)
    earliest_after: npt.NDArray[np.int64] = np.minimum.accumulate(first[::-1])[::-1]
    return earliest_after[1:] - last[:-1]


def _begun_after(facts: Sequence[Facts], order: list[int]) -> list[bool]:
    """From each position on: whether some file shows its process's first call."""
    begun = list(accumulate((facts[i].first_record == 0 for i in reversed(order)), operator.or_))
    return begun[::-1]


def _is_long_silence(before: _Before, gap: int, begun: bool) -> bool:  # noqa: ARG001 - one of two such questions
    return gap > max(SILENCE, before.timeout_ns + SKEW)


def _is_other_run(before: _Before, gap: int, begun: bool) -> bool:
    """Files that end before the processes of those behind them made their first calls.

    Unless their whole lives are shifted by no more than clocks differ, or they only waited for the others.
    """
    life = before.last_ns - before.first_ns
    other_clock = before.whole and life + gap <= SKEW
    waits_for_late_ones = before.whole and life <= gap
    return begun and not (other_clock or waits_for_late_ones)


def _restarts(facts: Sequence[Facts], order: list[int]) -> frozenset[int]:
    """Positions at which a new attempt begins because a rank that has files on both sides started over."""
    positions: dict[tuple[int, str], list[int]] = defaultdict(list)
    for at, index in enumerate(order):
        rank = facts[index].rank
        if rank is not None:
            positions[rank, facts[index].backend].append(at)
    pairs = [
        (right, left)
        for places in positions.values()
        for left, right in pairwise(places)
        if _started_over(facts[order[left]], facts[order[right]])
    ]
    gaps = _gaps(facts, order)
    cuts: list[int] = []
    for right, left in sorted(pairs):
        # Each pair needs a cut in between; one cut, where the silence is longest, does for all ranks.
        if not cuts or cuts[-1] <= left:
            cuts.append(left + 1 + int(np.argmax(gaps[left:right])))
    return frozenset(cuts)


def _started_over(before: Facts, after: Facts) -> bool:
    if before.last_ns is None or after.first_ns is None or after.first_ns <= before.last_ns:
        return False
    if None in (before.last_record, after.first_record):
        return False
    return (after.first_record or 0) <= (before.last_record or 0)
