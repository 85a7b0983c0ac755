"""Aligning two sequences of calls: where they stop to agree, and what of one is left out, or put in, in the other.

Linear in the common case: one stretch that explains the rest costs the length of both once, and sequences that agree
but for a few calls cost it once per edit, compared in blocks. `b` is aligned to a beginning of `a`: how `a` goes on
after the last call of `b` costs nothing.

In: the calls of both as numbers. Out: the edits that make `b` of `a`. Of `a b c a b c` and `a b c x a b` it is one: at
3, nothing of `a` becomes the `x` of `b`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Tokens = npt.NDArray[np.uint64]

MOST_EDITS = 96
"""Sequences further apart than this are compared by stretches."""
_SMALL = 4
"""So few edits, two calls swapped for instance, say more than one longer stretch."""
_HEAD = 4
_MOST_STARTS = 4096


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


def align(a: Tokens, b: Tokens, known: int | None = None) -> list[Edit] | None:
    """The edits that make `b` out of a beginning of `a`; None if the two have nothing to do with each other.

    One stretch that was left out or put in and explains more than it takes is found first, however long it is and
    whatever comes after it; then the shortest script, of those the one that matches most calls. Sequences that are
    further apart are told up to the second edit: the first is the one after which the longest stretch agrees. Of `a` so
    many calls are `known`; what follows was predicted, and decides no tie.
    """
    agree = common_prefix(a, b)
    if agree == len(b):
        return []
    whole = _one_stretch(a[agree:], b[agree:], (len(a) if known is None else known) - agree)
    if whole is not None:
        length = whole.a_stop + whole.b_stop
        swapped = _shortest(a, b, min(_SMALL, length - 1))
        if swapped is None and len(b) - agree - whole.b_stop > length:
            return [_moved(whole, agree)]
    shortest = _shortest(a, b, MOST_EDITS)
    if shortest is not None:
        return shortest
    return [_moved(edit, agree) for edit in _longest_run(a[agree:], b[agree:])] or None


def _moved(edit: Edit, by: int) -> Edit:
    return Edit(*(place + by for place in edit))


def _one_stretch(a: Tokens, b: Tokens, known: int) -> Edit | None:
    """The shortest stretch of `a` without which it goes on as `b`, or of `b` without which it goes on as `a`."""
    dropped = _find(a, b)
    for added in _starts(b, a):
        longest = None if dropped is None else dropped - (dropped + len(b) <= known)
        if longest is not None and added > longest:
            break
        if common_prefix(a, b[added:]) == len(b) - added:
            return Edit(0, 0, 0, int(added))
    return None if dropped is None else Edit(0, dropped, 0, 0)


def _find(a: Tokens, b: Tokens) -> int | None:
    """Where `b` stands in `a` as a whole, the first time."""
    text, pattern = np.ascontiguousarray(a).tobytes(), np.ascontiguousarray(b).tobytes()
    at = text.find(pattern)
    while at % a.itemsize and at >= 0:
        at = text.find(pattern, at + 1)
    return at // a.itemsize if at >= 0 else None


def _starts(a: Tokens, b: Tokens) -> npt.NDArray[np.int64]:
    """The places in `a`, but for its first, from which it goes on as `b` begins, for some calls at least."""
    head = min(_HEAD, len(b))
    if not head:
        return np.empty(0, np.int64)
    places = np.flatnonzero(a[1:] == b[0]) + 1
    for offset in range(1, head):
        inside = places + offset < len(a)
        places = places[~inside | (a[np.minimum(places + offset, len(a) - 1)] == b[offset])]
    return places[:_MOST_STARTS]


def _longest_run(a: Tokens, b: Tokens) -> list[Edit]:
    runs = [(common_prefix(a[at:], b), -int(at), int(at), 0) for at in _starts(a, b)]
    runs += [(common_prefix(a, b[at:]), -int(at), 0, int(at)) for at in _starts(b, a)]
    if not runs:
        return []
    length, _, dropped, added = max(runs)
    edits = [Edit(0, dropped, 0, added)]
    return (
        edits
        if added + length == len(b)
        else [*edits, Edit(dropped + length, len(a), added + length, len(b))]
    )


def _shortest(a: Tokens, b: Tokens, most: int) -> list[Edit] | None:
    """By Myers' greedy algorithm; None if there are more edits than `most`."""
    furthest: dict[int, int] = {1: 0}
    history: list[dict[int, int]] = []
    for edits in range(most + 1):
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
