"""In a circle somebody waits for a message of a rank that waits in a collective: its own rounds tell if it owes it.

Where each of its rounds sends that message but for one, and who waits for it has received one in each of its own, the
message of that round was left out. Where rounds differ more than so, nothing follows.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import polars as pl
from msgspec import Struct

from rankandfile.model.causes import LEFT_MESSAGE_OUT
from rankandfile.model.column import Row
from rankandfile.model.heuristics import heuristic
from rankandfile.model.sentence import told
from rankandfile.reason import lookup
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import call_phrase, pending_row, waiting_sentence

#: Fewer rounds are no habit.
_FEWEST = 4


class Gap(Struct, frozen=True):
    """Where a round ends without its message."""

    sends: int
    last: Row
    """The last call of that round."""
    again: Row | None
    """The first call of the next one."""
    send: Row
    """One of the sends that were made."""

    @property
    def rounds(self) -> int:
        return self.sends + 1


@finder(precedence=275)
@heuristic("broken round", "who sends in each of its rounds but one left the message of that one out")
def broken_round(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    if wait_end.kind != "cycle":
        return None
    calls = [facts.waits.pending[index] for index in wait_end.pending]
    owed = [
        (call, other, gap)
        for call in calls
        for other in calls
        if (gap := _owes(facts, call, other)) is not None
    ]
    if len(owed) != 1:
        return None
    receive, other, gap = owed[0]
    (waiter,), owing = receive.waiting, _peer(receive)
    row = pending_row(facts, receive)
    if owing is None or row is None:
        return None
    return Finding(
        cause="skipped_collective",
        confidence="supported",
        sentence=told(
            f"Rank {waiter} waits in the {call_phrase(facts, receive)} for a message of rank {owing}, which is in the "
            f"{call_phrase(facts, other)}. By its record rank {owing} made the {lookup.call_words(facts, gap.send)} in "
            f"{gap.sends} of its {gap.rounds} rounds: in one it went on from the {lookup.call_words(facts, gap.last)} "
            f"without it. Rank {waiter} has received one in each of its own rounds.",
            waiting_sentence(facts, wait_end, (owing,)),
        ),
        culprits=(owing,),
        doing={owing: f"{LEFT_MESSAGE_OUT}: sent {gap.sends} in {gap.rounds} rounds"},
        victims=tuple(rank for rank in wait_end.victims if rank != owing),
        location=lookup.location_of(facts, gap.send),
        evidence=tuple(
            lookup.evidence_of(one) for one in (gap.last, gap.again, gap.send, row) if one is not None
        ),
        contradicted_by="rounds that are meant to send nothing",
        alternatives=(
            perhaps(
                "extra_collective",
                f"Rank {waiter} may have gone round once more than there are messages for.",
                (waiter,),
                decided_by="the source: which rounds send",
            ),
        ),
    )


def _peer(call: Pending) -> int | None:
    peers = {*call.lacking, *call.unknown, *call.busy}
    return next(iter(peers)) if call.slot is None and len(peers) == len(call.waiting) == 1 else None


def _owes(facts: Facts, receive: Pending, other: Pending) -> Gap | None:
    """Of a receive whose sender is in the collective, where that one left the message out."""
    owing, row = _peer(receive), pending_row(facts, receive)
    if owing is None or row is None or other.slot is None or owing not in other.waiting:
        return None
    if lookup.op_of(facts, row) != "recv":
        return None
    waiter = receive.waiting[0]
    made = facts.call_table.of_rank(owing).filter(~pl.col("open"))
    sends = _moves(made, receive.group, owing, waiter)
    got = facts.call_table.of_rank(waiter).filter(pl.col("record") <= row["record"])
    regular = _between(got["token"].to_list(), _moves(got, receive.group, owing, waiter))
    if len(regular) < _FEWEST or len({*regular}) != 1:
        return None
    found = _gap(made, sends)
    return found if found is not None and found.rounds == len(regular) + 1 else None


def _moves(calls: pl.DataFrame, group: int, source: int, to: int) -> list[int]:
    """Which rows of it are messages from one to the other."""
    of_pair = (pl.col("group") == group) & (pl.col("src") == source) & (pl.col("dst") == to)
    return calls.select(of_pair.fill_null(value=False).arg_true()).to_series().to_list()


def _between(tokens: list[int], at: list[int]) -> list[tuple[int, ...]]:
    """What was made between one of these rows and the next; what came before the first of them is its own matter."""
    return [tuple(tokens[one + 1 : other]) for one, other in pairwise(at)]


def _gap(calls: pl.DataFrame, sends: list[int]) -> Gap | None:
    """The one place where two rounds follow each other with one message between them."""
    tokens = calls["token"].to_list()
    rounds = _between(tokens, sends)
    if len(rounds) < _FEWEST:
        return None
    (usual, count), *_ = Counter(rounds).most_common(1)
    tail = tuple(tokens[sends[-1] + 1 :])
    doubled = [nth for nth, one in enumerate(rounds) if one != usual]
    if not usual or len(doubled) > 1 or count < _FEWEST - 1:
        return None

    def row(at: int) -> Row:
        return calls.row(at, named=True)

    if [rounds[nth] for nth in doubled] == [usual + usual] and not tail:
        last = sends[doubled[0]] + len(usual)
        return Gap(len(sends), row(last), row(last + 1), row(sends[0]))
    if not doubled and tail == usual:
        return Gap(len(sends), row(len(tokens) - 1), None, row(sends[0]))
    return None
