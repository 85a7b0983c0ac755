"""Whether two tracks that differ are in step all the same: the same calls, some of them from other lines.

With letters for calls, where `p` and `q` ask for the same, and the last calls agree:

    normal  a p a p a p a
    other   a p a q a q a       in step: it has gone the other way of an `if` for good
    other   a p a a p a a       out of step: without one p, all that follows falls into place
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .alignment import Tokens

if TYPE_CHECKING:
    from .track_difference import TrackDifference


def to_the_end(found: TrackDifference, at: int, ours: int, theirs: int) -> bool:
    left_out, put_in = (found.length, 0) if found.kind == "skipped" else (0, found.length)
    return at + left_out + found.confirmed >= ours or at + put_in + found.confirmed >= theirs


def in_step(found: TrackDifference, differs: np.ndarray, at: int, ours: Tokens, theirs: Tokens) -> bool:
    """Whether the two, of whose promises none is broken, made the same calls, some of them from other lines: as the two
    sides of an `if` do that ask for the same. More calls agree as they stand than with one side ahead; or their last
    ones do, which that one side is ahead does not explain, or no better than that one has gone another way for good."""
    rest = len(differs) - at
    # Where it happens again further on, what agrees then counts, too.
    explained = max(found.confirmed, rest - found.length * (1 + found.again) if found.again else 0)
    if explained < rest - int(differs[at:].sum()):
        return True
    whole = to_the_end(found, at, len(ours), len(theirs))
    ahead = bool(found.again) or (whole and not _for_good(differs, at, ours, theirs))
    return not (ahead or differs[-1])


def _for_good(differs: np.ndarray, at: int, ours: Tokens, theirs: Tokens) -> bool:
    """Whether each side made a call of its own there, more than once, and one never came back to the other's: who is
    ahead makes the calls of the other, only sooner."""
    places = np.flatnonzero(differs[at:]) + at
    one, other = ours[places], theirs[places]
    if len(places) < 2 or np.isin(one, other).any():
        return False
    return not np.isin(theirs[places[0] :], one).any() or not np.isin(ours[places[0] :], other).any()
