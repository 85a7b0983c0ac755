"""Repetition: training is a loop, and its past says which call comes next."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankandfile.reason.divergence.alignment import Tokens

_RECENT = 1024
"""How far back repetition is looked for: many steps of any job, and bounded work."""


class Loop(NamedTuple):
    start: int
    """Where the repetition begins in the sequence."""
    period: int


def _suffix_matches(tokens: Tokens) -> list[int]:
    """For each distance d: how many tokens before the end agree with those d earlier (the Z function, reversed)."""
    text = tokens[::-1].tolist()
    n = len(text)
    z = [0] * n
    left = right = 0
    for i in range(1, n):
        if i < right:
            z[i] = min(right - i, z[i - left])
        while i + z[i] < n and text[z[i]] == text[i + z[i]]:
            z[i] += 1
        if i + z[i] > right:
            left, right = i, i + z[i]
    return z


def find_loop(tokens: Tokens) -> Loop | None:
    """The repetition that the sequence ends with and that covers most of it, seen at least twice.

    The shortest one would take seven like calls at the end of a step for a loop of their own.
    """
    best: Loop | None = None
    for distance, matched in enumerate(_suffix_matches(tokens)):
        if distance and matched >= distance:
            start = len(tokens) - matched - distance
            if best is None or start < best.start:
                best = Loop(start, distance)
    return best


def predict(tokens: Tokens, count: int) -> Tokens:
    """What should come next: what came after the longest earlier stretch that looks like the end of this one."""
    matches = _suffix_matches(tokens)
    if len(matches) < 2:
        return tokens[:0]
    best = max(range(1, len(matches)), key=lambda d: (matches[d], -d))
    if not matches[best]:
        return tokens[:0]
    follow = tokens[len(tokens) - best :]
    return np.resize(follow, count) if matches[best] >= best else follow[:count]


def always_followed(tokens: Tokens) -> bool:
    """Whether one call alone came after each earlier stretch that looks as much like the end of this one as any does: a
    stretch after which the past went several ways predicts none of them."""
    matches = np.asarray(_suffix_matches(tokens)[1:])
    if not len(matches) or not matches.max():
        return False
    distances = np.flatnonzero(matches == matches.max()) + 1
    return len(np.unique(tokens[len(tokens) - distances])) == 1


def in_loop(tokens: Tokens) -> int:
    """How many calls from the start on until the sequence falls out of its loop for good: all of them, if it never
    does, and none, if it is no loop.

    Once a sequence repeats itself, so does each longer beginning of it, up to the call that diverges: halving finds it.
    """
    recent = tokens[-_RECENT:]
    skipped = len(tokens) - len(recent)
    if _repeats(recent):
        return len(tokens)
    step = 1
    while step < len(recent) // 2 and not _repeats(recent[:-step]):
        step *= 2
    if step >= len(recent) // 2:
        return 0
    outside, inside = step // 2, step
    while inside - outside > 1:
        middle = (inside + outside) // 2
        if _repeats(recent[:-middle]):
            inside = middle
        else:
            outside = middle
    return skipped + len(recent) - inside


def _repeats(tokens: Tokens) -> bool:
    loop = find_loop(tokens)
    return loop is not None and 3 * loop.start <= len(tokens)
