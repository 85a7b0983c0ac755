"""An all_to_all in which one sends, or expects, another amount than each time before, and nobody else had been told."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.model.column import Row
from rankandfile.model.diagnosis import Alternative, Divergence
from rankandfile.reason import lookup
from rankandfile.reason.calls.exchanges.split_habits import Habit, broke_its_habit
from rankandfile.reason.divergence.find import find_divergence
from rankandfile.reason.document import cited, cohort, diverged, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import first_pending
from rankandfile.reason.words import ranks_words, verb


@finder(precedence=48)
def another_amount(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    call = first_pending(facts, wait_end) if wait_end.kind in ("joined", "behind") else None
    habit = broke_its_habit(facts, call.group, call.slot) if call is not None and call.slot else None
    row = lookup.call_at(facts, habit.rank, call.group, habit.slot) if call is not None and habit else None
    if call is None or habit is None or row is None:
        return None
    divergence = find_divergence(facts, wait_end)
    if divergence is not None and divergence.kind != "argument" and habit.rank in divergence.culprits:
        # It is in another call of its own: of course its sizes do not fit.
        return None
    does, did, others = ("sends", "sent", "expect") if habit.sends else ("expects", "expected", "send")
    kept = _kept_to_theirs(facts, call, habit)
    named = () if habit.others_as_before else (habit.rank,)
    return Finding(
        cause="split_mismatch",
        confidence="supported",
        sentence=(
            f"In the {lookup.call_words(facts, row)} rank {habit.rank} {does} {habit.now:,} elements. Each time "
            f"before it {did} {habit.usual:,} there, and what all members together {others} fits that amount, and not "
            "this one." + (_left_open(habit, kept, others) if habit.others_as_before else "")
        ),
        culprits=named,
        doing=dict.fromkeys(named, f"{does} another number of elements than each time before"),
        divergence=other_amounts(facts, call.group, habit.slot, (habit.rank,), row),
        location=lookup.location_of(facts, row),
        evidence=cited(row),
        contradicted_by="split sizes in a log that agree between all pairs",
        alternatives=(
            *(_either(habit, kept) if habit.others_as_before else ()),
            perhaps(
                "skipped_collective",
                "A member a call ahead or behind would make the sums disagree as well.",
                decided_by="the calls before, with their sizes",
            ),
        ),
    )


def _left_open(habit: Habit, kept: tuple[int, ...], others: str) -> str:
    follow = "one of them"
    if kept:
        follow = f"{ranks_words(kept)}, which {verb(kept, 'waits', 'wait')} in it where others are done,"
    return (
        f" They {others} what they did each time before: rank {habit.rank} was to keep to its amount, or {follow} was "
        "to change as well."
    )


def _either(habit: Habit, kept: tuple[int, ...]) -> Iterator[Alternative]:
    for rank in (habit.rank, *kept):
        was = "kept to its amount" if rank == habit.rank else "changed its amount as well"
        words = f"Rank {rank} may have been the one that ought to have {was}."
        yield perhaps(
            "split_mismatch", words, [rank], decided_by="the source: upon what the amounts are made anew"
        )


def _kept_to_theirs(facts: Facts, call: Pending, habit: Habit) -> tuple[int, ...]:
    """Whose messages do not fit: they wait in it yet, where others are done. None, where nobody is."""
    members = facts.membership.members[call.group]
    rows = {rank: lookup.call_at(facts, rank, call.group, habit.slot) for rank in members}
    waiting = [rank for rank, row in rows.items() if row is not None and row["open"] and rank != habit.rank]
    return tuple(waiting) if len(waiting) < len(members) - 1 else ()


def other_amounts(facts: Facts, group: int, slot: int, odd: tuple[int, ...], row: Row) -> Divergence:
    """The call of those who have another amount, beside that of the rest."""
    rest = tuple(rank for rank in facts.membership.members[group] if rank not in odd)
    sides = [(rest, lookup.call_at(facts, rest[0], group, slot)), (odd, row)]
    cohorts = [cohort(facts, ranks, r, lookup.size_words(facts, r)) for ranks, r in sides if r is not None]
    return diverged(facts, group, seq=row["seq"], kind="argument", cohorts=cohorts)
