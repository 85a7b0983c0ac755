"""Which side of a divergence did otherwise than in all rounds before."""

from __future__ import annotations

from itertools import groupby, pairwise

from rankandfile.source.culprits.by_few import sides
from rankandfile.source.lines.call_paths import CallPaths, Made
from rankandfile.source.lines.divergence import CodeDivergence, Side

#: Rounds before that show which way is the usual one.
_ROUNDS = 3


def left_the_usual(divergence: CodeDivergence, paths: CallPaths) -> Side | None:
    """The side that went another way than both did, each time before, after the last call that they made alike."""
    both = sides(divergence)
    went = set()
    for side in both:
        calls = paths.calls(side.rank)
        at = len(_before(calls, side))
        places = _places_in_row(calls)
        if not at or calls[at - 1].path != divergence.before:
            return None
        earlier = [
            after.path
            for place, made, after in zip(places, calls, calls[1:at], strict=False)
            if (made.path, place) == (divergence.before, places[at - 1])
        ]
        if len(earlier) < _ROUNDS:
            return None
        went |= set(earlier)
    odd = [side for side in both if {side.path} != went]
    return odd[0] if len(went) == len(odd) == 1 and divergence.before else None


def _places_in_row(calls: list[Made]) -> list[int]:
    """Of each call, the how manieth it is of those that were made by one way, one after the other: a step may make
    several so, and only the last of them says what comes next."""
    rows = (range(len(list(row))) for _, row in groupby(calls, key=lambda made: made.path))
    return [place for row in rows for place in row]


def made_a_new_call(divergence: CodeDivergence, paths: CallPaths) -> Side | None:
    """The side whose next call nobody had made before, by that path, where the other's is the one that came of late,
    each time, after the last call that both made."""
    made = {side.rank: _before(paths.calls(side.rank), side) for side in sides(divergence)}
    known = {call.path for calls in made.values() for call in calls}
    follows = [
        [after.path for call, after in pairwise(calls) if call.path == divergence.before]
        for calls in made.values()
    ]
    one, other = sides(divergence)
    for odd, usual in ((one, other), (other, one)):
        if odd.call is None or usual.call is None or odd.path in known or not divergence.before:
            continue
        if all(each[-_ROUNDS:] == [usual.path] * _ROUNDS for each in follows):
            return odd
    return None


def _before(calls: list[Made], side: Side) -> list[Made]:
    return calls[: next((i for i, made in enumerate(calls) if made is side.call), len(calls))]
