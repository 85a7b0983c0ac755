"""One side is still inside a call of a framework that the other has come out of: the user's line of that call.

    merged = metrics.compute()      # gathers a state once for each item of it, and one rank has an item less

What a framework does between the user's functions is its own business, and no test of the program decided it. Loops of
the program further out might have come round in between; that would be more to suppose.

In: the divergences of a verdict. Out: the line at which the framework was called.
"""

from __future__ import annotations

import ast

from rankandfile.model.known.frameworks import framework_of
from rankandfile.source.dependence.syntax import spans
from rankandfile.source.lines.call_paths import OPAQUE, CallPath, first_unlike
from rankandfile.source.lines.divergence import CodeDivergence, Side, ranks_in_words
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.lines.reachability import Reachability
from rankandfile.source.program.places import SourcePlace, in_loop

from .two_ways import qualified


def inside_framework(search: Search, found: list[CodeDivergence]) -> FoundLine | None:
    for divergence in found:
        for side in (divergence.normal, divergence.culprit) if divergence.exact else ():
            line = _called_at(search, divergence, side)
            if line is not None:
                return line
    return None


def _called_at(search: Search, divergence: CodeDivergence, side: Side) -> FoundLine | None:
    """The user's line from which the framework makes the calls, where the side made one more by the very same way."""
    other = divergence.other_than(side)
    path, before = qualified(search.places, side.path), qualified(search.places, divergence.before)
    away = first_unlike(before, qualified(search.places, other.path))
    if len(path) < 2 or path != before or not path[-1].function.startswith(OPAQUE):
        return None
    if not other.path or away is None or away > len(path) - 2:
        return None
    place = search.places.find(path[-2])
    if place is None or not place.known or _may_have_come_round(search, side):
        return None
    within = next(name for frame in reversed(side.path) if (name := framework_of(frame.file)) is not None)
    many = len(side.members) > 1
    story = (
        f"{ranks_in_words(side).capitalize()} {'are' if many else 'is'} still inside {within}, called at "
        f"{place.at(place.line)}, and {ranks_in_words(other)} came out of it with fewer calls: what it goes over "
        "there may not be the same on all ranks."
    )
    text = place.module.code_at(place.line)
    return FoundLine(
        place, place.line, text, divergence=divergence, kind="inside", singled=side.members, story=story
    )


def _may_have_come_round(search: Search, side: Side) -> bool:
    """A loop around the way may have made the calls one by one, or a handler on it have ended the other's go."""
    made = [call.path for call in search.paths.calls(side.rank)]
    reachability = Reachability(search.places)
    for depth, frame in enumerate(side.path):
        place = search.places.find(frame)
        if place is None or not place.known:
            continue
        if reachability.swallows(frame):
            return True
        # A loop that makes other calls in each of its rounds did not come round in between.
        if in_loop(place) and not any(_beside(path, side.path, depth, place) for path in made):
            return True
    return False


def _beside(path: CallPath, own: CallPath, depth: int, place: SourcePlace) -> bool:
    """A call made from another line of the loops around the line."""
    if len(path) <= depth or path[:depth] != own[:depth] or path[depth][:2] != own[depth][:2]:
        return False
    line = path[depth].line
    return line != place.line and any(
        isinstance(node, (ast.For, ast.While)) and spans(node, line) and spans(node, place.line)
        for node in place.function.nodes
    )
