"""A call of one number in which all are, and to which a rank without a dump came by another way through the program,
though what it asks for looks the same. That it has come to this number, a log tells; or that the call before it has
ended, in which gloo needs everybody, and that the rank stands in a call of this group still.

The others recorded by which way they came there; its stack shows its own. Two ways are two calls, whatever they look
like, where the others have made calls by either, and never both for one call: a way that nobody else takes may be what
the rank is there for. Where the others made calls by the rank's way right after those by theirs, the rank is further
on. Of gloo's calls alone, which processes carry: with others a process may be far ahead of the call that does not end.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import polars as pl

from rankandfile.model.diagnosis import Cohort
from rankandfile.model.heuristics import heuristic
from rankandfile.model.ranks import format_ranks
from rankandfile.model.sentence import told
from rankandfile.reason import lookup
from rankandfile.reason.calls.contracts import contract_of
from rankandfile.reason.claims.in_words import waiting
from rankandfile.reason.divergence.code_paths import Frame, stack_of
from rankandfile.reason.document import cited, cohort, diverged, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.ranks.host import Stand
from rankandfile.reason.ranks.missing_dumps import absent_ranks
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.backends import all_by_gloo
from rankandfile.reason.waits.from_stacks.kinds import kind_of
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import call_phrase, first_pending, in_calls, pending_row
from rankandfile.reason.waits.patience import Patience, patience
from rankandfile.reason.waits.seen_elsewhere import further_on, seen_before
from rankandfile.reason.words import ranks_words, upper, verb

#: Where more left nothing, it is not one that went another way.
_MOST = 64
_Way = tuple[Frame, ...]
"""Outermost first."""


class _WayDivergence(NamedTuple):
    ranks: tuple[int, ...]
    others: tuple[int, ...]
    next_one: bool
    """Whenever the others had come by their way, they came by that of these next."""
    came_so_before: bool
    """They came to the call before this one by the way of these."""
    here: Frame
    """Of the others' way, the innermost that is not of both."""
    there: Frame


@finder(precedence=218)
@heuristic(
    "by another way", "who came to a call of one number by another way than all others is in another call"
)
def by_another_way(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    call = first_pending(facts, wait_end)
    if (
        wait_end.kind not in ("joined", "missing")
        or call is None
        or patience(facts, call) in (Patience.NOT_YET, Patience.UNKNOWN)
    ):
        return None
    row = pending_row(facts, call)
    apart = _way_divergence(facts, call)
    if row is None or apart is None:
        return None
    those, its = ranks_words(apart.ranks), verb(apart.ranks, "its way", "their way")
    came = verb(apart.ranks, "comes", "come")
    then = (
        f" In each round before, the others made a call by {its} after those by theirs."
        if apart.next_one
        else ""
    )
    return Finding(
        # Where all came by its way right before as well, it may have gone there once more.
        cause="skipped_collective" if apart.next_one and not apart.came_so_before else "different_collective",
        confidence="supported" if len(apart.others) > len(apart.ranks) else "hypothesis",
        sentence=told(
            waiting(in_calls(facts, call)),
            f"{upper(ranks_words(apart.others))} came there by {_words(apart.here)}; by "
            f"{verb(apart.ranks, 'its stack', 'their stacks')}, {those} {came} by {_words(apart.there)}: that is "
            f"another call.{then}",
        ),
        culprits=apart.ranks,
        doing=dict.fromkeys(apart.ranks, f"came there by {_words(apart.there)}"),
        victims=apart.others,
        divergence=diverged(
            facts,
            call.group,
            seq=row["seq"],
            kind="absent",
            # By its number they have come to it; what they asked for in it, no record tells.
            cohorts=[cohort(facts, apart.others, row), Cohort(ranks=format_ranks(apart.ranks), unknown=True)],
        ),
        location=lookup.location_of(facts, row),
        evidence=(*cited(row), *(i for rank in apart.ranks[:4] for i in facts.hosts[rank].evidence[:1])),
        contradicted_by=f"the dump of {those}, with the same way to the {call_phrase(facts, call)}",
        alternatives=(
            perhaps(
                "extra_collective",
                f"{upper(those)} may have made a call more.",
                apart.ranks,
                decided_by=f"the dump of {those}",
            ),
        ),
    )


def _words(frame: Frame) -> str:
    return f"{frame.function}, {lookup.short_file(frame.file)}:{frame.line}"


def _way_divergence(facts: Facts, call: Pending) -> _WayDivergence | None:
    absent = {*absent_ranks(facts)}
    lost = tuple(rank for rank in (*call.waiting, *call.unknown) if rank in absent)
    others = tuple(rank for rank in call.waiting if rank not in absent)
    if not 0 < len(lost) <= _MOST or not others or not all_by_gloo(facts.case):
        return None
    if {*call.unknown} - {*lost} or (call.unknown and not _needed_all_before(facts, call, others)):
        return None
    stands = [facts.hosts.get(rank) for rank in lost]
    row = pending_row(facts, call)
    ops = {lookup.op_of(facts, row)} if row is not None else {}
    if any(_is_past(facts, call, rank) for rank in call.waiting):
        return None
    if any(s is None or not _stays(facts, call, s) or kind_of(s) not in ops for s in stands):
        return None
    theirs = {_way(facts, stand.stack) for stand in stands if stand is not None}
    made = [_by_ways(facts, rank, call) for rank in others]
    ours = {ways[-1] for ways in made if ways}
    if len(theirs) != 1 or len(ours) != 1 or not all(made):
        return None
    here, there = ours.pop(), theirs.pop()
    divergence = _first_unlike(here, there)
    seen = {_way(facts, facts.hosts[rank].stack) for rank in others if rank in facts.hosts}
    if divergence is None or there in seen or not _of_this_group(facts, call, there):
        return None
    if _both_for_one(facts, call, here, there):
        return None
    turns = [_then(ways, here) for ways in made]
    next_one = all(turn and {way[:-1] for way in turn} == {there[:-1]} for turn in turns)
    before = all(len(ways) > 1 and ways[-2][:-1] == there[:-1] for ways in made)
    return _WayDivergence(lost, others, next_one, before, *divergence)


def _needed_all_before(facts: Facts, call: Pending, others: Sequence[int]) -> bool:
    """The group's call before this one has ended for all of these, which none of its kind does without every member."""
    made = facts.call_table.of_group(call.group).filter(
        pl.col("rank").is_in(others), slot=(call.slot or 0) - 1
    )
    kinds = {facts.call_table.terms[terms].op for terms in made["terms"].drop_nulls().unique()}
    return made.height == len(others) > 0 and len(kinds) == 1 and contract_of(kinds.pop()).early == "nobody"


def _stays(facts: Facts, call: Pending, stand: Stand) -> bool:
    still = stand.activity == "collective" and not (stand.died or stand.moving or stand.running)
    return still and not seen_before(facts, call, stand)


def _is_past(facts: Facts, call: Pending, rank: int) -> bool:
    """It has asked for more since, and does not stand in this call."""
    made = facts.call_table.of_rank(rank)
    at = made.filter(group=call.group, slot=call.slot)["record"].max()
    later = isinstance(at, int) and made.filter(pl.col("record") > at).height > 0
    return later or further_on(facts, call, rank)


def _way(facts: Facts, stack: int | None) -> _Way:
    """By bare names: a recorder and a stack, or two hosts, may give more or less of them."""
    frames = stack_of(facts.case, stack) if stack is not None else []
    return tuple(
        frame._replace(function=frame.function.rpartition(".")[2], file=lookup.short_file(frame.file))
        for frame in frames
    )


def _first_unlike(here: _Way, there: _Way) -> tuple[Frame, Frame] | None:
    """The innermost frames that are not the same; None where one of the two is only known from further in."""
    return next(((a, b) for a, b in zip(reversed(here), reversed(there), strict=False) if a != b), None)


def _by_ways(facts: Facts, rank: int, call: Pending) -> list[_Way]:
    """By which ways the rank made the calls of the group, one after the other, up to this one."""
    made = facts.call_table.of_rank(rank).filter(pl.col("group") == call.group, pl.col("slot") <= call.slot)
    ways = {number: _way(facts, number) for number in made["stack"].unique()}
    return [ways[number] for number in made.sort("slot")["stack"]]


def _both_for_one(facts: Facts, call: Pending, here: _Way, there: _Way) -> bool:
    """Whether ranks came by the two ways to one call before: then these are no two calls."""
    made = facts.call_table.of_group(call.group).select("slot", "stack").unique().drop_nulls()
    ways = {stack: _way(facts, stack) for stack in made["stack"].unique()}
    by_way = {way: {slot for slot, stack in made.iter_rows() if ways[stack] == way} for way in (here, there)}
    return bool(by_way[here] & by_way[there])


def _of_this_group(facts: Facts, call: Pending, way: _Way) -> bool:
    """Whether others have made calls by this way, all of this group."""
    made = facts.call_table.calls.select("stack", "group").unique().drop_nulls("stack")
    groups = {group for stack, group in made.iter_rows() if _way(facts, stack) == way}
    return groups == {call.group}


def _then(ways: list[_Way], here: _Way) -> list[_Way]:
    """By which way a call came next, each time that calls by this way had come before. What one function makes in
    several lines, as a barrier before the call, is of one way."""
    return [after for before, after in pairwise(ways) if before[:-1] == here[:-1] != after[:-1]]
