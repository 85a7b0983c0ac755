"""Where one track diverges from another: a call skipped, added, swapped, replaced, or asked for differently.

Two tracks are compared slot by slot first. Where they differ, what matters is whether they are *out of step* from
there on, or only differ in place: the same collective by two paths is no divergence. To see a step out of
step although both sides stopped right after it, the longer side is continued by what its own past predicts.

In: the tracks of two cohorts, a number for each call, by slot from 1 on. Out: a `TrackDifference`, or None if there is
none. With letters for calls:

    normal  a b c a b c a b c
    other   a b c a c a b c         skipped at slot 5: without the b, all that follows falls into place
    other   a b c a x b c a b c     extra at slot 5
    other   a b c a x c a b c       substituted at slot 5, or an argument if x is b with another size
    other   a b c a c b a b c       swapped at slot 5
"""

from __future__ import annotations

from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from rankandfile.reason.calls.rounds import find_loop, predict

from .alignment import (
    Edit,
    Tokens,
    align,
    common_prefix,
)
from .cohorts import Track
from .in_step import in_step, to_the_end

Kind = Literal["skipped", "extra", "swapped", "substituted", "argument"]

_PATH = np.uint64(0xFFFFFFFF)
_LOOK_AHEAD = 64
_MOST_STARTS = 8


class TrackDifference(NamedTuple):
    """How `other` diverges from `normal`. Slots are those of the two tracks, which diverge at the same one."""

    kind: Kind
    slot: int
    exact: bool
    """False: the tracks are out of step from the first slot that was kept."""
    length: int
    """How many calls were skipped or added; 1 for the other kinds."""
    confirmed: int
    """How many calls after it fall into place once it is taken into account."""
    again: int = 0
    """How often the same calls were skipped or added once more after it: with that all that follows is in place."""


def track_difference(normal: Track, other: Track) -> TrackDifference | None:
    """None if the two are on the same path as far as both go."""
    low = max(normal.first, other.first)
    normal, other = normal.from_slot(low), other.from_slot(low)
    n = min(len(normal.tokens), len(other.tokens))
    theirs = _rename(normal.tokens[:n], other)
    differs = normal.tokens[:n] != theirs[:n]
    if not differs.any():
        return None
    hard = normal.terms[:n] != other.terms[:n]
    hard &= (normal.terms[:n] >= 0) & (other.terms[:n] >= 0)
    starts = _out_of_step(differs, hard, normal.tokens[:n])
    for early, end in pairwise(starts[: _MOST_STARTS + 1]):
        found = _align_from(normal.tokens, theirs, early, low)
        if found is None or found.kind not in ("skipped", "extra") or found.confirmed <= found.length:
            continue
        if not hard.any() and in_step(found, differs, found.slot - low, normal.tokens, theirs):
            continue
        agreed = end - 1 - int(np.flatnonzero(differs[:end])[-1])
        if (
            found.again
            or _explains_all(found, differs[early:], found.slot - low, len(normal.tokens), len(theirs))
            or (
                # That they agree as they stand says nothing where they agree as well with one side ahead.
                hard.any() and found.confirmed >= agreed and _asks_alike(found, normal, other, low, hard)
            )
        ):
            return found
    start = starts[-1]
    if not differs[start:].any():
        return None
    if (at := _other_arguments_once(normal.tokens, theirs, differs, hard, start)) is not None:
        return TrackDifference("argument", low + at, True, 1, n - 1 - at)
    found = _align_from(normal.tokens, theirs, start, low)
    if found is not None and not hard.any():
        alike = in_step(found, differs, found.slot - low, normal.tokens, theirs)
        return None if not found.confirmed or alike else found
    if found is not None and found.confirmed:
        return found
    coarse_normal, coarse_theirs = _coarse(normal.tokens), _coarse(theirs)
    if not hard.any():
        return None
    at = int(np.flatnonzero(hard)[0])
    if coarse_normal[at] == coarse_theirs[at] and coarse_normal[at]:
        return TrackDifference("argument", low + at, True, 1, 0)
    again = _align_from(coarse_normal, coarse_theirs, start, low)
    if again is not None and again.confirmed:
        return again
    return TrackDifference("substituted", low + _first_alone(normal, other, at), True, 1, 0)


def _other_arguments_once(
    normal: Tokens, other: Tokens, differs: np.ndarray, hard: np.ndarray, start: int
) -> int | None:
    """The one call of all that differs, if both made it by the same path: nobody is a call ahead after it, though in a
    loop it may look so."""
    places = np.flatnonzero(differs[start:]) + start
    if places.size != 1 or not hard[places[0]]:
        return None
    at = int(places[0])
    path = normal[at] & _PATH
    return at if path and path == other[at] & _PATH else None


def _first_alone(normal: Track, other: Track, at: int) -> int:
    """The first time the other side made this call alone, if it was paired by luck before: an earlier slot.

    A path that the normal side never takes, and that stood where the normal side made a call that the other
    side makes too, was out of place already; that sizes and operation agreed then is chance.
    """
    path = int(other.paths[at])
    ours, theirs = normal.paths[:at], other.paths[:at]
    if not path or np.any(normal.paths == np.uint64(path)):
        return at
    for earlier in np.flatnonzero(theirs == np.uint64(path)).tolist():
        if int(ours[earlier]) and np.any(theirs == ours[earlier]):
            return int(earlier)
    return at


def agree(one: Track, other: Track) -> bool:
    """Whether the two made the same calls from the same places, but for places that each has to itself."""
    low = max(one.first, other.first)
    one, other = one.from_slot(low), other.from_slot(low)
    n = min(len(one.tokens), len(other.tokens))
    return bool(np.all(one.tokens[:n] == _rename(one.tokens[:n], other)[:n]))


def _coarse(tokens: Tokens) -> Tokens:
    """Paths alone: sizes that change from step to step hide the repetition."""
    paths = tokens & _PATH
    return np.asarray(np.where(paths > 0, paths, tokens), np.uint64)


def _rename(normal: Tokens, other: Track) -> Tokens:
    """Paths that only the other side takes, always where this side takes one of its own, count as the same."""
    out: Tokens = other.tokens.copy()
    n = len(normal)
    same_terms = (normal >> np.uint64(32)) == (out[:n] >> np.uint64(32))
    places = np.flatnonzero((normal != out[:n]) & same_terms & (out[:n] != 0))
    if not places.size:
        return out
    mine, theirs = set(normal.tolist()), set(other.tokens.tolist())
    partner: dict[int, int | None] = {}
    for i in places.tolist():
        a, b = int(normal[i]), int(out[i])
        if b not in mine and a not in theirs:
            partner[b] = a if partner.get(b, a) == a else None
    for theirs_alone, ours_alone in partner.items():
        if ours_alone is not None:
            out[out == np.uint64(theirs_alone)] = np.uint64(ours_alone)
    return out


def _out_of_step(differs: np.ndarray, hard: np.ndarray, tokens: Tokens) -> list[int]:
    """From where on the two may be out of step: the first difference, and behind each stretch after it in which both
    sides agree, up to the first broken promise.

    In a loop, a stretch shorter than the loop may agree by chance although one side is a call behind.
    """
    first = int(np.flatnonzero(differs)[0])
    stop = int(np.flatnonzero(hard)[0]) if hard.any() else len(differs)
    loop = find_loop(tokens[:first]) if first else None
    enough = max(3, loop.period if loop else 0)
    bounds = np.flatnonzero(np.concatenate([differs[first:stop], [True]])) + first
    # A stretch that reaches `stop` counts, too: what comes there is then the first that is out of step.
    ends = [end for begin, end in pairwise(bounds.tolist()) if end - begin - 1 >= enough]
    return [first, *ends]


def _explains_all(found: TrackDifference, differs: np.ndarray, at: int, ours: int, theirs: int) -> bool:
    """One stretch left out or put in here, and all that follows is in place until one of the two ends, though several
    calls differ as they stand.

    A single one that differs may be the same call by another path."""
    if int(differs.sum()) < 2:
        return False
    return to_the_end(found, at, ours, theirs)


def _asks_alike(found: TrackDifference, normal: Track, other: Track, low: int, hard: np.ndarray) -> bool:
    """Whether, with one side ahead from there on, both ask for the same until the first broken promise, as they do
    where they stand; and the calls of which it is ahead are of paths that the other side never takes."""
    at, stop = found.slot - low, int(np.flatnonzero(hard)[0])
    ours, theirs = normal.terms[at:], other.terms[at:stop]
    if found.kind == "skipped":
        ours, alone, rest = ours[found.length :], normal, other
    else:
        theirs, alone, rest = theirs[found.length :], other, normal
    if np.isin(alone.paths[at : at + found.length], rest.paths).any():
        return False
    n = min(len(ours), len(theirs))
    return bool(np.array_equal(ours[:n], theirs[:n]))


def _align_from(normal: Tokens, other: Tokens, begin: int, low: int) -> TrackDifference | None:
    ahead = max(_LOOK_AHEAD, len(other) - len(normal) + _LOOK_AHEAD)
    future = predict(normal, ahead)
    a = np.concatenate([normal[begin:], future])
    b = other[begin:]
    skip = common_prefix(a, b)
    if _for_the_first_time(normal, other, begin + skip):
        a = normal[begin:]
    edits = align(a[skip:], b[skip:], len(normal) - begin - skip)
    if not edits:
        return None
    return _name([Edit(*(v + begin + skip for v in e)) for e in edits], normal, other, low)


def _for_the_first_time(normal: Tokens, other: Tokens, at: int) -> bool:
    """Both sides have made the same calls from here on, in different orders, and one that neither had made before: that
    it comes once more is no prediction, and who makes it later has not left it out."""
    ours, theirs = normal[at:], other[at:]
    if not len(ours) or len(ours) != len(theirs) or np.isin([ours[0], theirs[0]], normal[:at]).all():
        return False
    return bool(np.array_equal(np.sort(ours), np.sort(theirs)))


def _name(edits: list[Edit], normal: Tokens, other: Tokens, low: int) -> TrackDifference:
    first = edits[0]
    dropped, added = first.a_stop - first.a_start, first.b_stop - first.b_start
    after = edits[1].b_start if len(edits) > 1 else len(other)
    confirmed = after - first.b_stop
    slot, exact = low + first.b_start, first.b_start > 0
    if dropped and added:
        if dropped == added and len(edits) == 1:
            gone = np.sort(normal[first.a_start : first.a_stop])
            come = np.sort(other[first.b_start : first.b_stop])
            if len(gone) == len(come) and bool(np.all(gone == come)):
                return TrackDifference("swapped", slot, exact, dropped, max(confirmed, 1))
        return TrackDifference("substituted", slot, exact, 1, 0)
    if len(edits) > 1 and _moved(first, edits[1], normal, other):
        return TrackDifference("swapped", slot, exact, dropped or added, max(confirmed, 1))
    again = len(edits) - 1 if _alike(edits, normal, other) else 0
    if dropped:
        return TrackDifference("skipped", slot, exact, dropped, confirmed, again)
    if confirmed and _comes_after(first, confirmed, normal, other):
        return TrackDifference("swapped", slot, exact, added, confirmed)
    return TrackDifference("extra", slot, exact, added, confirmed, again)


def _alike(edits: list[Edit], normal: Tokens, other: Tokens) -> bool:
    """Whether each of the edits takes away, or puts in, what the first does."""
    calls = {
        (tuple(normal[e.a_start : e.a_stop].tolist()), tuple(other[e.b_start : e.b_stop].tolist()))
        for e in edits
    }
    return len(calls) == 1


def _comes_after(first: Edit, confirmed: int, normal: Tokens, other: Tokens) -> bool:
    """What was added early is what the normal side makes right after the calls that fall into place."""
    due = normal[first.a_stop + confirmed : first.a_stop + confirmed + first.b_stop - first.b_start]
    early = other[first.b_start : first.b_stop]
    ends_here = first.b_stop + confirmed == len(other)
    return ends_here and len(due) == len(early) and bool(np.all(due == early))


def _moved(first: Edit, second: Edit, normal: Tokens, other: Tokens) -> bool:
    """What is missing in one place turns up in the next."""
    gone = normal[first.a_start : first.a_stop], normal[second.a_start : second.a_stop]
    come = other[first.b_start : first.b_stop], other[second.b_start : second.b_stop]
    forward = len(gone[0]) == len(come[1]) > 0 and bool(np.all(gone[0] == come[1]))
    back = len(gone[1]) == len(come[0]) > 0 and bool(np.all(gone[1] == come[0]))
    return (forward and not len(come[0])) or (back and not len(gone[0]))
