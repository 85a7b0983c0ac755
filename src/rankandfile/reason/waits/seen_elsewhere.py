"""Ranks without a whole dump whose stacks show them in another call of the group than the one that others wait in.

In: a call that ranks cannot get past, of a job of which some dumps are lost. Out: what those members ask for in its
place, as requests beside those of the dumps and of the watchdogs' lines.

Every member has ended the calls of the group before this one, as others have, and nobody gets past this one before
all have come: so a member that stands still in a call of the group is in this one, or in another in its place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import polars as pl

from rankandfile.model.heuristics import heuristic
from rankandfile.reason.calls.call_table import COLLECTIVE
from rankandfile.reason.calls.contracts import contract_of
from rankandfile.reason.calls.requests import Request, of_stack, takes_all
from rankandfile.reason.facts import Facts
from rankandfile.reason.lookup import short_file
from rankandfile.reason.ranks.host import Stand
from rankandfile.reason.ranks.missing_dumps import absent_ranks
from rankandfile.reason.waits.from_stacks.kinds import kind_of, known

from .backends import all_by_gloo
from .ended_ranks import died_first
from .graph import Pending
from .patience import Patience, patience
from .seen_waiting import ways_to_waits


@heuristic(
    "in another call by its stack",
    "a rank without a dump asks for the call in which its stack stands still",
    otherwise=[],
)
def seen_elsewhere(facts: Facts, call: Pending, told: Collection[Request]) -> list[Request]:
    """`told`: what is known already of what members ask for in the call."""
    if call.slot is None or not told or not all(takes_all(claim) for claim in told):
        return []
    waiting = {claim.rank for claim in told}
    lost = {*absent_ranks(facts)} & {*facts.membership.members[call.group]} - waiting
    seen_somewhere = lost & facts.hosts.keys()
    if not seen_somewhere or patience(facts, call) in (Patience.NOT_YET, Patience.UNKNOWN):
        return []
    in_it = sorted(
        rank
        for rank in seen_somewhere
        if not (further_on(facts, call, rank) or seen_before(facts, call, facts.hosts[rank]))
    )
    seen = (facts.hosts[rank] for rank in ways_to_waits(facts.case, facts.hosts, in_it))
    world = facts.case.world_size
    all_wait = world is not None and facts.waits.of_rank.keys() >= {*range(world)} - lost
    asked = (
        _request(facts, call, stand, all_wait and _lacks_them(facts, call, stand.rank, waiting))
        for stand in seen
        if known(stand)
    )
    return [one for one in asked if one is not None]


def _lacks_them(facts: Facts, call: Pending, rank: int, waiting: set[int]) -> bool:
    """Whether whichever call it is in lacks those that wait: each group that it may be in has all of them."""
    members, unsure = facts.membership.members, facts.membership.unsure
    others = [g for g in members if g != call.group and (rank in members[g] or g in unsure)]
    return all(waiting <= {*members[group]} for group in others)


def further_on(facts: Facts, call: Pending, rank: int) -> bool:
    """Its log counts calls behind this one; or its process is gone, and its stack is of a time before."""
    came = facts.standing.filter(group=call.group, rank=rank)["last"].max()
    return died_first(facts.accounts, rank) or (isinstance(came, int) and came > (call.slot or 0))


def seen_beside(facts: Facts, ranks: Iterable[int]) -> set[int]:
    """Ranks without a whole dump that stand in a call where one of these stands."""
    ways = [*ways_to_waits(facts.case, facts.hosts, ranks).values()]
    lost = ways_to_waits(facts.case, facts.hosts, absent_ranks(facts))
    return {rank for rank, way in lost.items() if way in ways}


def is_elsewhere(facts: Facts, call: Pending, rank: int) -> bool:
    """Whether a rank without a dump stands elsewhere than in this call, and was seen since the others wait in it: in
    another call, of a kind that cannot be this one's, or on a line from which others made calls of this group, in none
    that others are past; or where nobody of those that wait has come from, if each can be in but this one's group."""
    stand = facts.hosts.get(rank)
    if stand is None or stand.died or stand.moving or further_on(facts, call, rank):
        return False
    there = recorded_at(facts, stand)
    if not there.height and _is_nobodys(facts, call, stand):
        return not seen_before(facts, call, stand)
    ops = {kind_of(stand)} - {facts.call_table.terms[number].op for number in _terms_of(facts, call)}
    unlike = bool(ops) and stand.activity == "collective"
    if not known(stand) or not (unlike or there.height) or not {*there["group"].to_list()} <= {call.group}:
        return False
    if _may_be_behind(facts, call, there["slot"].drop_nulls().to_list()):
        return False
    return not seen_before(facts, call, stand)


@heuristic(
    "a line that is nobody's",
    "who stands still where none of those is that wait has not come to gloo's call, which its process would carry",
    otherwise=False,
)
def _is_nobodys(facts: Facts, call: Pending, stand: Stand) -> bool:
    """Whether it stands in its own code, and those that wait are known to have come from other lines: in a job of one
    group without transfers, whose calls are carried by the ranks' processes."""
    made = facts.call_table.of_group(call.group).filter(pl.col("slot") == call.slot)
    still = stand.moving is False and not stand.running
    if stand.activity != "user_code" or not still or made["site"].has_nulls():
        # Who waits for a call to end that it has begun is by nature on another line than that call.
        return False
    at = {(one.location.file, one.location.line) for r in call.waiting if (one := facts.hosts.get(r))}
    alone = not facts.hidden and not of_several_groups(facts)
    return all_by_gloo(facts.case) and alone and (stand.location.file, stand.location.line) not in at


def _terms_of(facts: Facts, call: Pending) -> list[int]:
    made = facts.call_table.of_group(call.group).filter(pl.col("slot") == call.slot)
    return made["terms"].unique().to_list()


def seen_before(facts: Facts, call: Pending, stand: Stand) -> bool:
    """Whether somebody looked at it before the others came to the call: it may have gone on since."""
    came = facts.call_table.of_group(call.group).filter(pl.col("slot") == call.slot)["created_ns"].max()
    return stand.last_ns is not None and isinstance(came, int) and 0 < stand.last_ns < came


def _request(facts: Facts, call: Pending, stand: Stand, alone: bool) -> Request | None:
    """What it asks for; None where its call may be one of another group, or one that others are past already. `alone`:
    all others wait, and whichever call it is in lacks them."""
    there = recorded_at(facts, stand)
    if there.height and set(there["group"].to_list()) != {call.group}:
        return None
    if not there.height and not alone and of_several_groups(facts):
        return None
    if _may_be_behind(facts, call, there["slot"].drop_nulls().to_list()):
        return None
    ops = {facts.call_table.terms[number].op for number in there["terms"].unique().to_list()}
    return of_stack(facts, stand, ops.pop() if len(ops) == 1 else kind_of(stand))


def of_several_groups(facts: Facts) -> bool:
    return bool(facts.code.makes_groups) or facts.case.groups.height > 1


def recorded_at(facts: Facts, stand: Stand) -> pl.DataFrame:
    """The calls that other ranks made at the line on which it stands, wherever the program lies on their hosts."""
    at, frames = stand.location, facts.case.frames
    lines = frames.filter(pl.col("line") == at.line).select("frame", "file").iter_rows()
    same = [frame for frame, file in lines if short_file(file) == short_file(at.file)]
    return facts.call_table.calls.filter((pl.col("kind") == COLLECTIVE) & pl.col("site").is_in(same))


def _may_be_behind(facts: Facts, call: Pending, slots: list[int]) -> bool:
    """Whether others made its call since the last of which nobody gets past before all have come."""
    before = facts.call_table.of_group(call.group).filter(pl.col("slot") < call.slot)
    terms = facts.call_table.terms
    by_all = [
        slot
        for number, slot in before.group_by("terms").agg(pl.col("slot").max()).iter_rows()
        if contract_of(terms[number].op).early == "nobody"
    ]
    last = max(by_all, default=-1)
    return any(last < slot < (call.slot or 0) for slot in slots)
