"""A call that all seen members of a group joined, whose members are not recorded: who left no dump may belong to it.

Such a call lacks a member, or the network fails; and of a member that made its calls and left a dump they would be
there. So who is missing is among the ranks without a dump that stand elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations, pairwise

import polars as pl

from rankandfile.model.diagnosis import Confidence
from rankandfile.model.heuristics import heuristic
from rankandfile.model.sentence import told
from rankandfile.reason import lookup
from rankandfile.reason.calls.contracts import contract_of
from rankandfile.reason.calls.rounds import always_followed
from rankandfile.reason.claims.in_words import waiting
from rankandfile.reason.divergence.earlier_rounds import due, in_order, telling
from rankandfile.reason.document import cited, not_come, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.ranks.missing_dumps import absent_ranks
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.backends import all_by_gloo
from rankandfile.reason.waits.from_stacks.another_way import is_passed
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import in_calls, pending_row
from rankandfile.reason.waits.patience import Patience, patience
from rankandfile.reason.waits.seen_elsewhere import recorded_at
from rankandfile.reason.words import ranks_words, upper, verb

#: Ranks of which every part is tried.
_FEW = 6
_STANDS = ("collective", "p2p", "teardown", "init")


@finder(precedence=215)
@heuristic(
    "member without a dump",
    "a call that all seen members joined lacks a rank that left no dump and is elsewhere",
)
def missing_member(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    calls, call = lacking(facts, wait_end)
    if call is None:
        return None
    elsewhere = _elsewhere(facts, calls)
    those = elsewhere or _all_that_are_left(facts, calls)
    if (
        not those
        or (len(those) > 1 and not of_one_kind(facts, calls))
        or _may_be_recorded(facts, calls, those)
    ):
        return None
    here = {rank for one in calls for rank in one.waiting}
    # Of those that stand in two places, one may wait for the other.
    places = {(at.file, at.line) for rank in those if (at := facts.hosts[rank].location)}
    fill_it = len(calls) == 1 and len(places) == 1 and _make_a_row_of(here, those)
    if len(those) > len(calls) and 2 * len(those) >= len(here) and not fill_it:
        return None
    row = pending_row(facts, call)
    # Whose message it waits for may have left it out: then it is late, and has skipped nothing.
    late = any(facts.hosts[r].asked.awaited in here and not is_passed(facts.hosts[r], here) for r in those)
    usual = all(len(one.waiting) > 1 for one in calls) or _all_due(facts, calls)
    sure = (len(those) <= len(calls) or fill_it) and usual and not late
    confidence: Confidence = "supported" if sure else "hypothesis"
    where = "stands elsewhere" if elsewhere else "is in another call"
    doing = {rank: f"{where}, {facts.hosts[rank].phrase}" for rank in those}
    return Finding(
        cause="skipped_collective",
        confidence=confidence,
        sentence=told(
            *(waiting(in_calls(facts, one)) for one in calls[:4]),
            "All members that are recorded have joined, and it does not end.",
            f"{upper(ranks_words(those))} left no dump, and "
            + (_stands_elsewhere(facts, those) if elsewhere else _is_in_another(those)),
        ),
        culprits=those,
        doing=doing,
        victims=tuple(sorted({r for one in calls for r in one.waiting} - {*those})),
        divergence=not_come(facts, call, row, those if len(calls) == 1 else (), call.waiting)
        if row
        else None,
        location=lookup.location_of(facts, row),
        evidence=(*cited(row), *(i for rank in those[:4] for i in facts.hosts[rank].evidence[:1])),
        contradicted_by=f"the members of the group, without {ranks_words(those)}",
        alternatives=(
            *(() if elsewhere else (perhaps("order_inversion", _ANOTHER_ORDER, those, decided_by=_DUMP),)),
            perhaps(
                "network_stalled",
                "All members may have joined, and the network does not carry it.",
                decided_by="who belongs to the group: the source",
            ),
        ),
    )


def _make_a_row_of(here: Collection[int], those: Collection[int]) -> bool:
    """Ranks at equal steps, as a mesh lays its groups out, if all of those belong to it, and in no other case: then the
    call lacks all of them, and not just one."""
    some = (left for size in range(len(those)) for left in combinations(sorted(those), size))
    few = len(those) <= _FEW
    return few and is_a_row([*here, *those]) and not any(is_a_row([*here, *left]) for left in some)


def is_a_row(ranks: Iterable[int]) -> bool:
    """Ranks at equal steps, as a mesh lays them out: a group's."""
    steps = {b - a for a, b in pairwise(sorted(ranks))}
    return len(steps) == 1 and steps != {0}


_ANOTHER_ORDER = "The call in which it is may be one that the others make before or after that one."
_DUMP = "the dump that is missing"


def _stands_elsewhere(facts: Facts, those: tuple[int, ...]) -> str:
    each = "each of these calls lacks one of them" if len(those) > 1 else "that call lacks it"
    where = "; ".join(f"{ranks_words([rank])} {facts.hosts[rank].phrase}" for rank in those[:6])
    belongs = verb(those, "it belongs", "they belong")
    return f"{verb(those, 'stands', 'stand')} elsewhere: {where}. If {belongs} to the group, {each}."


def _is_in_another(those: tuple[int, ...]) -> str:
    is_, asks = verb(those, "is", "are"), verb(those, "asks", "ask")
    return (
        f"{is_} at the same line. gloo ends a call in which all its members are, and nobody else is left: "
        f"{verb(those, 'it', 'they')} {is_} in another one, or {asks} for something else."
    )


def lacking(facts: Facts, wait_end: WaitEnd) -> tuple[list[Pending], Pending | None]:
    """The calls of groups whose members nobody recorded, which all that are known have joined, for too long; and which
    of them this end is of."""
    if wait_end.kind != "joined":
        return [], None
    calls = [
        call
        for end in facts.wait_ends
        if end.kind == "joined"
        for call in (facts.waits.pending[i] for i in end.pending)
        if call.slot is not None
        and call.group in facts.membership.unsure
        and not call.mismatched
        and _alike(facts, call)
        and patience(facts, call) not in (Patience.NOT_YET, Patience.UNKNOWN)
    ]
    own = (facts.waits.pending[i] for i in wait_end.pending)
    return calls, next((call for call in own if call in calls), None)


def _alike(facts: Facts, call: Pending) -> bool:
    """Whether those that joined asked for the same, as far as it is recorded, in a call that is of no one root."""
    rows = facts.call_table.of_group(call.group).filter(pl.col("slot") == call.slot)
    return rows["terms"].n_unique() == 1 and all(
        contract_of(facts.call_table.terms[terms].op).early == "nobody" for terms in rows["terms"].unique()
    )


def _elsewhere(facts: Facts, calls: Sequence[Pending]) -> tuple[int, ...]:
    """Ranks without a dump that stand still where none of those stands who wait."""
    here = {rank for call in calls for rank in (*call.waiting, *facts.membership.members[call.group])}
    at = {
        (s.location.file, s.location.line)
        for r in here
        if (s := facts.hosts.get(r)) is not None and not s.moving
    }
    return tuple(
        rank
        for rank in absent_ranks(facts)
        if rank not in here
        and (stand := facts.hosts.get(rank)) is not None
        and stand.activity in _STANDS
        and not (stand.died or stand.moving)
        and (stand.location.file, stand.location.line) not in at
    )


@heuristic(
    "all that are left",
    "gloo's calls are carried by processes: one that does not end lacks who is in none of them",
    otherwise=(),
)
def _all_that_are_left(facts: Facts, calls: Sequence[Pending]) -> tuple[int, ...]:
    """Ranks without a dump that stand still in a line which makes calls of other groups as well, one for each of these
    calls: all others wait in these, which gloo would end if their members were all there. Each of the others has gone
    on as always before: else it may have left out the call that the lost one is in."""
    lost = absent_ranks(facts)
    here = {rank for call in calls for rank in call.waiting}
    stands = [stand for rank in lost if (stand := facts.hosts.get(rank)) is not None]
    still = all(s.activity == "collective" and not (s.died or s.moving) for s in stands)
    groups = {call.group for call in calls}
    of_others = all({*recorded_at(facts, stand)["group"]} - groups for stand in stands)
    everybody = {*facts.case.ranks_seen} <= here | {*lost} and len(stands) == len(lost) == len(calls)
    left = all_by_gloo(facts.case) and still and of_others and everybody and not {*lost} & here
    return tuple(lost) if left and _all_due(facts, calls, always=True) else ()


def of_one_kind(facts: Facts, calls: Sequence[Pending]) -> bool:
    """Calls from one line on groups that share no rank: the groups of one kind, and nobody is in two of them. Where the
    records have no lines, what the groups are called tells."""
    rows = [pending_row(facts, call) for call in calls]
    sites = {row["site"] if row else None for row in rows}
    families = {facts.membership.families.get(call.group) for call in calls}
    ranks = [rank for call in calls for rank in call.waiting]
    alike = len(families) == 1 if sites == {None} else len(sites) == 1
    return alike and len(ranks) == len({*ranks})


def _may_be_recorded(facts: Facts, calls: Sequence[Pending], those: Sequence[int]) -> bool:
    """Whether one that left a dump may be the member that is missing: of a call that is the first of its group."""
    seen = {rank for call in calls for rank in facts.membership.members[call.group]}
    first = any(not call.slot or call.slot <= 1 for call in calls)
    return first and bool(set(facts.case.ranks_seen) - seen - {*those} - set(absent_ranks(facts)))


def _all_due(facts: Facts, calls: Sequence[Pending], *, always: bool = False) -> bool:
    """Whether each that waits goes on as its own rounds before; `always`: as all of them that came so far."""
    return all(_is_due(facts, rank, always=always) for call in calls for rank in call.waiting)


def _is_due(facts: Facts, rank: int, *, always: bool) -> bool:
    made = facts.call_table.of_rank(rank)
    if made.height < 3:
        return False
    tokens = in_order(made, "token")
    expected = due(tokens[:-1], 1)
    if always and not always_followed(telling(tokens[:-1])):
        return False
    return len(expected) > 0 and int(expected[0]) == int(tokens[-1])
