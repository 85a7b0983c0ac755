"""The waits of a wait end in words and in the document: who waits, for whom, in which call."""

from __future__ import annotations

from rankandfile.model.diagnosis import Wait
from rankandfile.model.ranks import format_ranks
from rankandfile.reason import lookup
from rankandfile.reason.calls.order_across_groups import PlaceInOrder
from rankandfile.reason.facts import Facts
from rankandfile.reason.words import ranks_words, upper, verb

from .graph import Pending, WaitEnd

_MOST_WAITS = 8
_HOST_BACKENDS = {"gloo"}


def first_pending(facts: Facts, wait_end: WaitEnd) -> Pending | None:
    """The call that a wait end is about: of those that end in it, the one that comes first in the program."""
    calls = [facts.waits.pending[i] for i in wait_end.pending]
    if not calls:
        return None
    numbered = [c for c in calls if c.slot is not None]
    if not numbered:
        return calls[0]
    return min(
        numbered, key=lambda call: (_later_than(facts, call, numbered), -len(call.waiting), call.group)
    )


def _later_than(facts: Facts, call: Pending, others: list[Pending]) -> int:
    """How many of the others the program comes to before this one."""
    if len(others) > 12:
        return 0
    count = 0
    for other in others:
        if other is call or other.slot is None or call.slot is None:
            continue
        here, there = PlaceInOrder(call.group, call.slot), PlaceInOrder(other.group, other.slot)
        before, after = facts.order.votes(there, here, frozenset())
        count += before > after
    return count


def pending_row(facts: Facts, call: Pending) -> lookup.Row | None:
    """The call of one of the ranks that wait in it."""
    for rank in call.waiting:
        row = (
            lookup.call_at(facts, rank, call.group, call.slot)
            if call.slot is not None
            else lookup.call_of_record(facts, rank, call.record or 0)
        )
        if row is not None:
            return row
    return None


def call_phrase(facts: Facts, call: Pending) -> str:
    """'all_reduce at trainer.py:88 (group mesh_tp [2,3], seq 50)'."""
    row = pending_row(facts, call)
    name = lookup.call_words(facts, row) if row else "call"
    number = f", seq {row['seq']}" if row and call.slot is not None else ""
    return f"{name} (group {lookup.group_words(facts, call.group)}{number})"


def waiting_sentence(facts: Facts, wait_end: WaitEnd, culprits: tuple[int, ...], named: bool = False) -> str:
    """'Ranks 0-2 wait for it in the all_reduce ...; ranks 4-7 wait in turn.' `named`: the call was just named."""
    call = first_pending(facts, wait_end)
    if call is None:
        return ""
    waiting = tuple(r for r in call.waiting if r not in culprits)
    if not waiting:
        return ""
    proved = call.lacking and set(call.lacking) <= set(culprits)
    whom = f" for {verb(culprits, 'it', 'them')}" if proved else ""
    where = "there" if named else f"in the {call_phrase(facts, call)}"
    words = f"{upper(ranks_words(waiting))} {verb(waiting, 'waits', 'wait')}{whom} {where}"
    rest = tuple(sorted(set(wait_end.victims) - set(waiting) - set(culprits)))
    if rest:
        words += f"; {ranks_words(rest)} {verb(rest, 'waits', 'wait')} in turn"
    return words + "."


def wait_list(facts: Facts, wait_end: WaitEnd) -> list[Wait]:
    first = first_pending(facts, wait_end)
    calls = [facts.waits.pending[i] for i in wait_end.pending]
    concerned = set(wait_end.victims) | set(wait_end.ranks)
    rest = [c for c in facts.waits.pending if c not in calls and concerned & set(c.waiting)]
    rest.sort(key=lambda c: (-len(c.waiting), c.group, c.slot or 0))
    ordered = ([first] if first else []) + [c for c in calls if c is not first] + rest
    return [_wait(facts, call) for call in ordered[:_MOST_WAITS]]


def _wait(facts: Facts, call: Pending) -> Wait:
    row = pending_row(facts, call)
    ids = [lookup.evidence_of(row)] if row else []
    for rank in (*call.lacking, *call.busy, *call.behind)[:2]:
        ids += lookup.standing_evidence(facts, rank, call.group)
    return Wait(
        ranks=format_ranks(call.waiting),
        waits_for=format_ranks(call.lacking or call.behind or call.busy or call.unknown),
        group=lookup.group_words(facts, call.group),
        seq=row["seq"] if row and call.slot is not None else None,
        op=lookup.op_of(facts, row) if row else None,
        by="host" if row and _backend(facts, row) in _HOST_BACKENDS else "device",
        evidence=ids,
    )


def _backend(facts: Facts, row: lookup.Row) -> str | None:
    dumps = facts.case.dumps.filter(facts.case.dumps["dump"] == row["dump"])
    return dumps["backend"][0] if dumps.height else None
