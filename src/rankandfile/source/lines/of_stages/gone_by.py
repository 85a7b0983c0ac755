"""Few who wait in a call that nobody can go by, while all others wait in one that a rank may go by.

The others cannot be past the few: they would have had to come through the call of these, and it does not end without
them. So the few have come to their call by way of the other one, and went by it: whoever waits there waits for someone
who is not there, and they alone are not. Both are calls of all ranks: of a group that the code makes of some, the few
need not be. How many they are tells a call that was left out from one that was made too much.

In: the stacks of all ranks. Out: the test or the loop upon which the call is left out, else the call's own line.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.heuristics import heuristic
from rankandfile.model.known.group_makers import MAKES_GROUPS
from rankandfile.source.dependence import axes_of
from rankandfile.source.dependence.syntax import ancestors, spans
from rankandfile.source.effects.event import event
from rankandfile.source.lines.call_paths import CallPath, first_unlike
from rankandfile.source.lines.found_line import Search
from rankandfile.source.program.modules import Function
from rankandfile.source.program.scopes import own_nodes

from .pipeline import Stage, all_stages
from .rounds import ends_early
from .ways_by import Way, may_be_theirs, ways_by

_LEAVES = (ast.Break, ast.Return, ast.Raise)


@heuristic(
    "gone by the other",
    "few who wait in a call that nobody can go by, while all others wait in one that may be gone by, went by that",
)
def gone_by(search: Search, verdict: Verdict) -> tuple[tuple[int, ...], CallPath, list[Way]] | None:
    """The few, the path of the others, and the ways around their call."""
    # Whom stacks alone name, they name as those in another call; what their calls tell is more than this.
    told = verdict.culprits and (verdict.cause != "different_collective" or search.case.dumps_used.height)
    if not verdict.hang or told or verdict.family != "paths":
        return None
    stages = all_stages(search)
    paths = {stage.path for stage in stages}
    few = {one.rank for one in verdict.named}
    mine = {stage.path for stage in stages if stage.rank in few}
    there = [stage for stage in stages if stage.path in mine]
    if len(paths) != 2 or len(mine) != 1 or 2 * len(there) >= len(stages) or any(s.transfer for s in stages):
        return None
    (own,), (theirs,) = mine, paths - mine
    depth = first_unlike(own, theirs)
    if depth is None or own[depth][:2] != theirs[depth][:2] or not _unavoidable(search, own, theirs, depth):
        return None
    if (
        _is_of_some(search, theirs)
        or _is_of_some(search, own)
        or any(_makes_groups(search, s) for s in stages)
    ):
        return None
    ways = [way for way in ways_by(search, theirs, depth) if way[2].level in ("varying", "axes")]
    ways += _out_of_loops(search, own, theirs, depth)
    if not all(may_be_theirs(search, way, few) for way in ways):
        return None
    waiting = next(stage.rank for stage in stages if stage.path == theirs)
    return (tuple(sorted(few)), theirs, ways) if ways or _in_backward(search, waiting) else None


def _makes_groups(search: Search, stage: Stage) -> bool:
    """Whom a group is made of, and by whom, the call does not tell."""
    looks = search.paths.whole(stage.rank, "main")
    return bool(looks) and any(MAKES_GROUPS.search(frame.function) for frame in looks[0])


def _is_of_some(search: Search, path: CallPath) -> bool:
    """Whether it is made in a group that may not be of all ranks."""
    place = search.places.find(path[-1])
    if place is None or not place.known:
        return True
    program = place.function.module.program
    calls = (node for node in own_nodes(place.function) if isinstance(node, ast.Call))
    made = [found for node in calls if spans(node, place.line) and (found := event(node, place.function))]
    groups = [(each.function, each.group) for each in made if each.group is not None]
    return any(axes_of(program, function, group) is not None for function, group in groups)


def _out_of_loops(search: Search, own: CallPath, theirs: CallPath, depth: int) -> Iterator[Way]:
    """Tests upon which a rank leaves a loop that the others are in, and the few are behind."""
    for frame in theirs[depth:]:
        place = search.places.find(frame)
        for node in own_nodes(place.function) if place is not None and place.known else ():
            if place is None or not isinstance(node, ast.For) or not spans(node, frame.line):
                continue
            if frame is theirs[depth] and spans(node, own[depth].line):
                continue
            for test in ends_early(search, place.function, node):
                outer = next(o for o in ancestors(place.function.module, test) if isinstance(o, ast.stmt))
                yield place.function, outer, search.why(place.function, test)


def _in_backward(search: Search, rank: int) -> bool:
    """What is exchanged in a backward pass is up to the graph that each rank has made."""
    looks = search.paths.whole(rank, "main")
    return bool(looks) and any("torch/autograd/" in frame.file.replace("\\", "/") for frame in looks[0])


def _unavoidable(search: Search, own: CallPath, theirs: CallPath, depth: int) -> bool:
    """No rank comes back from the function in which they parted without this call, nor by an error."""
    if any(True for _ in ways_by(search, own, depth)):
        return False
    for frame in own[depth:]:
        place = search.places.find(frame)
        if place is None or not place.known:
            return False
        for node in own_nodes(place.function):
            if isinstance(node, (ast.Try, ast.Match)) and spans(node, frame.line):
                return False
            if not isinstance(node, (ast.For, ast.While)) or not spans(node, frame.line):
                continue
            together = frame is own[depth] and spans(node, theirs[depth].line)
            if not together and not _is_gone_through(search, place.function, node):
                return False
    return True


def _is_gone_through(search: Search, function: Function, loop: ast.For | ast.While) -> bool:
    """All ranks go round it equally often."""
    if isinstance(loop, ast.While) or search.why(function, loop.iter).level != "uniform":
        return False
    return not any(isinstance(node, _LEAVES) and spans(loop, node.lineno) for node in own_nodes(function))
