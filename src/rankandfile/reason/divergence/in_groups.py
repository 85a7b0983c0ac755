"""Where the calls of a wait end's own groups show that ranks diverged."""

from __future__ import annotations

from msgspec.structs import replace

from rankandfile.model.column import Row
from rankandfile.model.heuristics import heuristic
from rankandfile.reason import lookup
from rankandfile.reason.waits.facts import WaitFacts
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.waits.seen_waiting import ways_to_waits

from .divergence_point import DivergencePoint, call_of, calls_before, came_to, place_of
from .earlier_rounds import usual
from .no_harm import did_no_harm
from .one_side import on_one_side
from .paths import GroupPaths, Path
from .read_by_one import read_alone
from .replaced_call import placed
from .track_difference import Kind

FEWEST_WITNESSES = 3
"""So many that do alike show what is right, against one that does not."""


def in_groups(facts: WaitFacts, wait_end: WaitEnd) -> DivergencePoint | None:
    """By the paths of the groups in which others wait for this end: the group with the largest normal path speaks."""
    groups = {facts.waits.pending[i].group for i in wait_end.pending} | set(wait_end.groups)
    found: list[tuple[GroupPaths, Path]] = []
    for group in sorted(groups):
        if (known := facts.paths_of_groups.get(group)) is None:
            continue
        paths = on_one_side(facts, wait_end, known)
        diverged = [p for p in paths.diverged if p.difference and not did_no_harm(facts, group, p.difference)]
        if diverged:
            found.append((paths, min(diverged, key=_slot)))
    if not found:
        return None
    paths, path = min(found, key=lambda pair: (-len(pair[0].normal.ranks), _slot(pair[1])))
    group, difference = paths.group, path.difference
    assert difference is not None
    same = [
        p for p in paths.diverged
        if p.difference and (p.difference.slot, p.difference.kind) == (difference.slot, difference.kind)
    ]  # fmt: skip
    ranks = tuple(sorted(r for p in same for r in p.ranks))
    expected = call_of(facts, paths.normal.ranks, group, difference.slot)
    came = call_of(facts, path.ranks, group, difference.slot)
    kind: Kind = difference.kind
    if (
        kind == "argument"
        and expected
        and came
        and lookup.op_of(facts, expected) != lookup.op_of(facts, came)
    ):
        # One line that makes several operations, as a helper for all of them does.
        kind = "substituted"
    by_stacks = kind == "substituted" and _made_at_one_place(facts, expected, came)
    if by_stacks:
        kind = "argument"
    result = DivergencePoint(
        kind=kind,
        group=group,
        slot=difference.slot,
        culprits=() if paths.decided_by == "nothing" else ranks,
        normal=paths.normal.ranks,
        other=ranks,
        expected=expected,
        came=came,
        length=difference.length,
        confirmed=difference.confirmed,
        exact=difference.exact,
        again=difference.again,
        by_stacks=by_stacks,
        alike=paths.alike,
        place=place_of(facts, came, expected) if kind == "extra" else place_of(facts, expected, came),
    )
    if paths.decided_by == "history" and _not_even_there(facts, result):
        result = replace(result, culprits=())
    result = placed(facts, result) if kind == "substituted" else result
    way = usual(paths.normal.track, path.track, difference.slot)
    result = replace(result, usual=() if way is None else ranks if way is path.track else paths.normal.ranks)
    seen = [_seen_with(facts, wait_end, group, row) for row in (expected, came)]
    result = replace(
        result,
        normal=tuple(sorted({*result.normal, *seen[0]})),
        other=tuple(sorted({*result.other, *seen[1]})),
        culprits=tuple(sorted({*result.culprits, *seen[1]})) if result.culprits else (),
        usual=tuple(sorted({*result.usual, *seen[result.usual == result.other]})) if result.usual else (),
    )
    by_history = paths.decided_by == "history"
    if paths.decided_by == "majority" and _most_by_absent(facts, result):
        result = replace(result, culprits=())
    if _few_against_few(facts, result, by_history):
        return replace(result, culprits=())
    return (read_alone(facts, result) if by_history else None) or result


def _made_at_one_place(facts: WaitFacts, expected: Row | None, came: Row | None) -> bool:
    """No frames are recorded, and by their stacks both wait in one call on one way: most likely it is the same call,
    and they ask for different things of it. A line that asked for either before makes several, one after the other."""
    if expected is None or came is None or lookup.op_of(facts, expected) != lookup.op_of(facts, came):
        return False
    rows = (expected, came)
    if any(row["stack"] is not None or not row["open"] for row in rows):
        return False
    asked = {row["terms"] for row in rows}
    if any(asked & {*calls_before(facts, row)["terms"]} for row in rows):
        return False
    ways = ways_to_waits(facts.case, facts.hosts, [row["rank"] for row in rows])
    one, other = (ways.get(row["rank"]) for row in rows)
    return one is not None and one == other


def _seen_with(facts: WaitFacts, wait_end: WaitEnd, group: int, row: Row | None) -> tuple[int, ...]:
    """Ranks without a record of their calls there, that stand where a rank stands which waits in this one."""
    if row is None or not row["open"]:
        return ()
    there = {
        rank
        for call in (facts.waits.pending[index] for index in wait_end.pending)
        if (call.group, call.slot) == (group, row["slot"])
        for rank in call.waiting
    }
    unrecorded = sorted(there - set(facts.call_table.of_group(group)["rank"].unique().to_list()))
    way = ways_to_waits(facts.case, facts.hosts, [row["rank"]]).get(row["rank"])
    seen = ways_to_waits(facts.case, facts.hosts, unrecorded)
    return tuple(rank for rank in unrecorded if way is not None and seen.get(rank) == way)


@heuristic(
    "few against few",
    "what few ranks do instead of what as many or fewer others do is no fault by the rounds before alone",
    otherwise=False,
)
def _few_against_few(facts: WaitFacts, found: DivergencePoint, by_history: bool) -> bool:
    """Few ranks against as many or fewer, in a call that nothing else explains.

    Two against two at one call: that all went one way before is what their data may have happened to say. Calls that
    go on in step behind one left out, or made besides, are more than that.

    What strikes one rank seldom strikes two alike: of all members the fewer are out of step, also where they went on as
    in the rounds before, and missed what is done for the first time. As many may be right, unless they did as the
    rounds before, and the others made a call of another place of them, or one that lies behind all.
    """
    if found.kind != "substituted":
        return False
    if by_history and len(found.culprits) == len(found.normal) > 1:
        return True
    if found.how == "left" or found.confirmed:
        return False
    normal = {*found.normal, *found.alike}
    if len(normal) >= FEWEST_WITNESSES:
        return False
    all_known = {*normal, *found.other} >= {*facts.membership.members[found.group]}
    if len(normal) > len(found.other) and all_known:
        return False
    known = found.came is not None and (calls_before(facts, found.came)["token"] == found.came["token"]).any()
    return not (known or found.how == "behind") or found.usual != found.normal


def _most_by_absent(facts: WaitFacts, found: DivergencePoint) -> bool:
    """Whether the normal side are the most only by ranks that have not come there, and wait for nobody: those went as
    the others of it as far as they went, and bear no witness of what is right there."""
    if found.slot is None:
        return False
    there = came_to(facts, found.group, found.slot, found.normal)
    absent = [rank for rank in found.normal if rank not in there and rank not in facts.waits.of_rank]
    return bool(absent) and len(there) <= len(found.other)


def _not_even_there(facts: WaitFacts, found: DivergencePoint) -> bool:
    """Whether the two sides asked for different things because they were at different places of the program.

    As many ranks on one side as on the other, and an unusual size on one: that is no witness against it if the two
    came to the call by different ways.
    """
    if found.kind != "argument" or found.expected is None or not found.other:
        return False
    paths = facts.programs.against(found.other[0], found.expected["rank"])
    return paths is not None and paths.expected != (found.expected["rank"], found.expected["record"])


def _slot(path: Path) -> int:
    return path.difference.slot if path.difference else 1 << 62
