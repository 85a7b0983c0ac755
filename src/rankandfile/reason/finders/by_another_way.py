"""A call of one number in which all are, and to which a rank without a dump came by another way through the program,
though what it asks for looks the same.

The others recorded by which way they came there; its stack shows its own. Two ways are two calls, whatever they look
like: and where the others made calls by the rank's way right after those by theirs, the rank is further on.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import polars as pl

from rankandfile.model.heuristics import heuristic
from rankandfile.model.sentence import told
from rankandfile.reason import lookup
from rankandfile.reason.claims.in_words import waiting
from rankandfile.reason.divergence.code_paths import Frame, stack_of
from rankandfile.reason.document import cited, not_come, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.ranks.host import Stand
from rankandfile.reason.ranks.missing_dumps import absent_ranks
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.from_stacks.kinds import kind_of
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import call_phrase, first_pending, in_calls, pending_row
from rankandfile.reason.waits.patience import Patience, patience
from rankandfile.reason.waits.seen_elsewhere import of_several_groups
from rankandfile.reason.words import ranks_words, upper, verb

_Way = tuple[Frame, ...]
"""Outermost first."""


class _Apart(NamedTuple):
    ranks: tuple[int, ...]
    others: tuple[int, ...]
    next_one: bool
    """Whenever the others had come by their way, they came by that of these next."""
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
        wait_end.kind != "joined"
        or call is None
        or patience(facts, call) in (Patience.NOT_YET, Patience.UNKNOWN)
    ):
        return None
    row = pending_row(facts, call)
    apart = _apart(facts, call)
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
        cause="skipped_collective" if apart.next_one else "different_collective",
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
        divergence=not_come(facts, call, row, apart.ranks, apart.others),
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


def _apart(facts: Facts, call: Pending) -> _Apart | None:
    lost = tuple(rank for rank in call.waiting if rank in absent_ranks(facts))
    others = tuple(rank for rank in call.waiting if rank not in lost)
    stands = [facts.hosts.get(rank) for rank in lost]
    row = pending_row(facts, call)
    ops = {lookup.op_of(facts, row)} if row is not None else {}
    if not lost or not others or any(s is None or not _stays(s) or kind_of(s) not in ops for s in stands):
        return None
    theirs = {_way(facts, stand.stack) for stand in stands if stand is not None}
    made = [_by_ways(facts, rank, call) for rank in others]
    ours = {ways[-1] for ways in made if ways}
    if len(theirs) != 1 or len(ours) != 1 or not all(made):
        return None
    here, there = ours.pop(), theirs.pop()
    if not here or not there or here == there or not _of_this_group(facts, call, there):
        return None
    turns = [_then(ways, here) for ways in made]
    next_one = all(turn and {way[:-1] for way in turn} == {there[:-1]} for turn in turns)
    parted = next((a, b) for a, b in zip(reversed(here), reversed(there), strict=False) if a != b)
    return _Apart(lost, others, next_one, *parted)


def _stays(stand: Stand) -> bool:
    return stand.activity == "collective" and not (stand.died or stand.moving or stand.running)


def _way(facts: Facts, stack: int | None) -> _Way:
    return tuple(stack_of(facts.case, stack)) if stack is not None else ()


def _by_ways(facts: Facts, rank: int, call: Pending) -> list[_Way]:
    """By which ways the rank made the calls of the group, one after the other, up to this one."""
    made = facts.call_table.of_rank(rank).filter(pl.col("group") == call.group, pl.col("slot") <= call.slot)
    ways = {number: _way(facts, number) for number in made["stack"].unique()}
    return [ways[number] for number in made.sort("slot")["stack"]]


def _of_this_group(facts: Facts, call: Pending, way: _Way) -> bool:
    """Whether calls by this way are all of this group, as far as any are recorded."""
    made = facts.call_table.calls.select("stack", "group").unique().drop_nulls("stack")
    groups = {group for stack, group in made.iter_rows() if _way(facts, stack) == way}
    return groups == {call.group} or (not groups and not of_several_groups(facts))


def _then(ways: list[_Way], here: _Way) -> list[_Way]:
    """By which way a call came next, each time that calls by this way had come before. What one function makes in
    several lines, as a barrier before the call, is of one way."""
    return [after for before, after in pairwise(ways) if before[:-1] == here[:-1] != after[:-1]]
