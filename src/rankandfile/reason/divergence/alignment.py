"""Aligning two sequences of calls: the shortest edit script, by Myers' greedy algorithm.

Linear in the common case: sequences that agree but for a few calls cost their length once per edit, compared in
blocks. `b` is aligned to a beginning of `a`: how `a` goes on after the last call of `b` costs nothing.

In: the calls of both as numbers. Out: the edits that make `b` of `a`. Of `a b c a b c` and `a b c x a b` it is one: at
3, nothing of `a` becomes the `x` of `b`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Tokens = npt.NDArray[np.uint64]

MOST_EDITS = 96
"""Sequences further apart than this have nothing to do with each other."""


class Edit(NamedTuple):
    """a[a_start:a_stop] stands where b[b_start:b_stop] does; one of the two may be empty."""

    a_start: int
    a_stop: int
    b_start: int
    b_stop: int


def common_prefix(a: Tokens, b: Tokens) -> int:
    """How many tokens from the start are equal."""
    length = min(len(a), len(b))
    done, block = 0, 32
    while done < length:
        stop = min(done + block, length)
        unequal = np.flatnonzero(a[done:stop] != b[done:stop])
        if unequal.size:
            return done + int(unequal[0])
        done, block = stop, block * 4
    return length


def align(a: Tokens, b: Tokens, most_edits: int = MOST_EDITS) -> list[Edit] | None:
    """The edits that make `b` out of a beginning of `a`; None if there are more than `most_edits`.

    Among the shortest scripts the one that matches most calls is taken.
    """
    furthest: dict[int, int] = {1: 0}
    history: list[dict[int, int]] = []
    for edits in range(most_edits + 1):
        history.append(dict(furthest))
        best: tuple[int, int] | None = None
        for k in range(-edits, edits + 1, 2):
            x = _reach(furthest, k, edits)
            y = x - k
            if x > len(a) or y > len(b) or x < 0 or y < 0:
                furthest.pop(k, None)
                continue
            ran = common_prefix(a[x:], b[y:])
            furthest[k] = x + ran
            if y + ran >= len(b) and (best is None or x + ran > best[0]):
                best = (x + ran, k)
        if best is not None:
            return _merge(_trace(history, *best))
    return None


def _reach(furthest: dict[int, int], k: int, edits: int) -> int:
    """Where diagonal k starts this round: from the diagonal below (drop one of a) or above (insert one of b)."""
    if k == -edits or (k != edits and furthest.get(k - 1, -1) < furthest.get(k + 1, -1)):
        return furthest.get(k + 1, -1 << 40)
    return furthest.get(k - 1, -1 << 40) + 1


def _trace(history: list[dict[int, int]], x: int, k: int) -> list[tuple[int, int, int, int]]:
    steps: list[tuple[int, int, int, int]] = []
    for edits in range(len(history) - 1, 0, -1):
        before = history[edits]
        inserts = k == -edits or (k != edits and before.get(k - 1, -1) < before.get(k + 1, -1))
        k = k + 1 if inserts else k - 1
        x = before[k]
        y = x - k
        steps.append((x, x, y, y + 1) if inserts else (x, x + 1, y, y))
    steps.reverse()
    return steps


def _merge(steps: list[tuple[int, int, int, int]]) -> list[Edit]:
    merged: list[Edit] = []
    for step in steps:
        last = merged[-1] if merged else None
        if last is not None and last.a_stop == step[0] and last.b_stop == step[2]:
            merged[-1] = Edit(last.a_start, step[1], last.b_start, step[3])
        else:
            merged.append(Edit(*step))
    return merged
