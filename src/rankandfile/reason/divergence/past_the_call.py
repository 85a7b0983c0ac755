"""Where a rank's host stands, as against the call that its like made next: past it, the rank has left it out.

Sends and receives that are not recorded hide what a rank does after its last collective. Its stack shows where in the
program it is. If ranks that run the same program made another call at that point, and the rank stands behind that
call's line, at a line from which they made calls of their own only after it, it went past it.

That line may as well be in a loop of its own, which those that made the call have left: if nobody ever came by that
call before, no earlier round shows that it belongs to the round. Then the few departed from what all did until then.

Members of one group need not run the same program: stages of a pipeline have other layers. Where the last call of both
is one collective, made by one way, and the others' next one came out of the same function, at a later line, a rank that
is not in that function any more has left it without that call.

And a rank's own rounds tell when a call is due: where as many calls as ever came before it are made, and the rank
stands before the last of them in the loop's body, the loop came round without it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import polars as pl

from rankandfile.model.column import Row
from rankandfile.model.heuristics import heuristic
from rankandfile.reason import lookup
from rankandfile.reason.waits.backends import on_hosts_alone
from rankandfile.reason.waits.facts import WaitFacts
from rankandfile.reason.waits.graph import WaitEnd

from .code_paths import (
    depth_of_divergence,
    has_left,
    lines_of_one_function,
    relation,
    stack_of,
    was_there,
)
from .divergence_point import own_group

_MOST_MATES = 8
_ROUNDS = 2


class Passed(NamedTuple):
    """A call that these ranks went past."""

    ranks: tuple[int, ...]
    mates: tuple[int, ...]
    """Ranks of the same program that made it."""
    due: Row
    group: int
    slot: int | None
    left: bool = False
    """The few that made it left the rounds that these are still in."""


@heuristic("stands past the call", "a host past the line of a call that its like made has left it out")
def passed(facts: WaitFacts, wait_end: WaitEnd) -> Passed | None:
    waiting = {r for i in wait_end.pending for r in facts.waits.pending[i].waiting}
    # Where a rank got on between its dump and its stack, the one says nothing of the other's moment.
    got_on = {r for one in facts.contradictions if one.moved for r in one.ranks}
    if got_on & {*waiting, *wait_end.ranks} or any(_at_work(facts, rank) for rank in waiting):
        return None
    found: list[tuple[int, int, Row, bool]] = []
    for rank in wait_end.ranks:
        one = _passed(facts, rank, sorted(waiting))
        if one is None:
            return None
        found.append((rank, *one))
    if not found:
        return None
    rank, _, due, _ = found[0]
    first = {first for *_, first in found}
    calls = (facts.waits.pending[i] for i in wait_end.pending)
    beside = {r for c in calls if (c.group, c.slot) == (due["group"], due["slot"]) for r in c.waiting}
    left = first == {True} and len(found) > len(waiting)
    group = own_group(facts, rank, int(due["group"]))
    last = facts.call_table.of_rank(rank).filter(pl.col("group") == group)["slot"].max()
    return Passed(
        wait_end.ranks,
        tuple(sorted(waiting if left else beside | {mate for _, mate, *_ in found})),
        due,
        group,
        int(last) + 1 if isinstance(last, int) else due["slot"],
        left,
    )


def _at_work(facts: WaitFacts, rank: int) -> bool:
    """Seen in code of its own, though its dump has it wait: by then the job had moved."""
    stand = facts.hosts.get(rank)
    return (
        stand is not None and not stand.died and stand.activity == "user_code" and on_hosts_alone(facts.case)
    )


def _passed(facts: WaitFacts, rank: int, waiting: list[int]) -> tuple[int, Row, bool] | None:
    """The mate, its call, and whether that is the first of its kind, which it waits in.

    Ranks that wait for this one are asked first: they came furthest."""
    stand = facts.hosts.get(rank)
    if stand is None or stand.died or stand.moving or stand.running:
        return None
    mates = facts.programs.mates(rank, facts.case.ranks_seen)
    ordered = sorted(mates, key=lambda r: (r not in waiting, r))
    for mate in ordered[:_MOST_MATES]:
        key = facts.programs.due(rank, mate)
        due = lookup.call_of_record(facts, *key) if key else None
        if due is None or due["stack"] is None:
            continue
        before = facts.call_table.of_rank(mate).filter(pl.col("record") < due["record"])
        stacks = list(dict.fromkeys(before["stack"].drop_nulls().reverse().head(512)))
        depth = depth_of_divergence(facts.case, due["stack"], stand.stack)
        # The call that both made last it made itself, perhaps from another arm of a test than its mate.
        last = facts.call_table.of_rank(rank).sort("record")["stack"].drop_nulls().tail(1).to_list()
        how = relation(facts.case, [*last, *stacks], due["stack"], stand.stack)
        if stand.waits == "no" and last == [due["stack"]]:
            # It is behind its own last call by that line, and held there by its host: no round need have come round.
            return None
        if (
            how in ("after", "left")
            and depth is not None
            and was_there(facts.case, stacks, stand.stack, depth)
        ):
            return mate, due, mate in waiting and due["open"] and due["stack"] not in stacks
        # Where one of its like shows it on its way, the others would not show more.
        return None
    ways = (_left_out, _went_round)
    return next(
        ((mate, due, False) for way in ways for mate in waiting if (due := way(facts, rank, mate))), None
    )


def _left_out(facts: WaitFacts, rank: int, mate: int) -> Row | None:
    """The call that the mate waits in, if it made it in the function that it was in with this rank, and this one is
    not in that function any more."""
    ours, theirs = (facts.call_table.of_rank(r).sort("record").tail(2).to_dicts() for r in (rank, mate))
    if not ours or len(theirs) < 2:
        return None
    common, (before, due) = ours[-1], theirs
    same = all(common[key] == before[key] is not None for key in ("group", "slot"))
    alike = depth_of_divergence(facts.case, common["stack"], before["stack"]) is None
    stand = facts.hosts[rank].stack
    if not (same and alike and due["open"] and due["group"] == common["group"]):
        return None
    return due if has_left(facts.case, before["stack"], due["stack"], stand) else None


def _went_round(facts: WaitFacts, rank: int, mate: int) -> Row | None:
    """The call that the mate waits in, if it was due here too by each of this rank's own rounds, and the rank is in the
    next round of the loop around it."""
    theirs = facts.call_table.of_rank(mate).sort("record").tail(1).to_dicts()
    made = facts.call_table.of_rank(rank).sort("record").select("path", "stack").rows()
    if not theirs or not theirs[0]["open"] or theirs[0]["path"] is None or not made:
        return None
    due = theirs[0]
    at = [n for n, (path, _) in enumerate(made) if path == due["path"]]
    rounds = [[path for path, _ in made[one + 1 : other]] for one, other in pairwise([*at, len(made)])]
    if len(rounds) <= _ROUNDS or any(each != rounds[-1] for each in rounds) or not rounds[-1]:
        return None
    before, expected, now = (
        stack_of(facts.case, n) for n in (made[-1][1], due["stack"], facts.hosts[rank].stack)
    )
    lines = lines_of_one_function(before, expected, now)
    return due if lines is not None and lines[2] < lines[0] < lines[1] else None
