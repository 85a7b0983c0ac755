"""A circle in which some wait in an all_to_all of a backward pass, for one to which they send nothing there.

What was sent comes back: it got nothing in the forward pass of that layer. What a rank makes of nothing is often a new
tensor, which has no graph; then its backward pass goes by the layer and leaves the exchanges out. It need not have left
a dump: that nothing goes to it the others' stacks tell. Not where these came to the exchange otherwise than each time
before: they may have left out the call that it waits in.
"""

from __future__ import annotations

from rankandfile.model.heuristics import heuristic
from rankandfile.model.sentence import told
from rankandfile.reason import lookup
from rankandfile.reason.calls.exchanges.split_pairs import splits_of
from rankandfile.reason.calls.exchanges.undone import made_in_backward
from rankandfile.reason.calls.rounds import always_followed
from rankandfile.reason.claims.in_words import circle
from rankandfile.reason.divergence import in_document
from rankandfile.reason.divergence.earlier_rounds import due, in_order, telling
from rankandfile.reason.document import cited, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import call_phrase, in_calls, pending_row
from rankandfile.reason.words import ranks_words, verb


@finder(precedence=285)
@heuristic(
    "no part in a layer",
    "who lacks in an exchange of a backward pass in which nothing goes to it, and to it alone, has left it out",
)
def no_part_in_layer(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    if wait_end.kind != "cycle":
        return None
    calls = [facts.waits.pending[i] for i in wait_end.pending]
    found = [(call, without) for call in calls if (without := _without_part(facts, call))]
    if len(found) != 1:
        return None
    ((call, without),) = found
    if not set(without) <= set(wait_end.ranks):
        return None
    row = pending_row(facts, call)
    whom = verb(without, "it", "them")
    return Finding(
        cause="skipped_collective",
        confidence="supported",
        sentence=told(
            circle(wait_end.ranks, [in_calls(facts, one) for one in calls[:4]]),
            f"The {call_phrase(facts, call)} is of a backward pass, and lacks {ranks_words(without)}. By the splits in "
            f"the stacks nothing goes to {whom} there, and to {whom} alone: from the others {ranks_words(without)} got "
            "nothing in that layer, and what is made of nothing may have no backward pass.",
        ),
        culprits=without,
        doing={rank: _doing(facts, rank) for rank in without},
        divergence=in_document.circle(facts, wait_end, without),
        location=lookup.location_of(facts, row),
        evidence=(
            *cited(row),
            *(facts.hosts[rank].asked.evidence for rank in call.waiting if rank in facts.hosts),
        ),
        contradicted_by=f"a record of the call on {ranks_words(without)}",
        alternatives=(
            perhaps(
                "order_inversion",
                "The ranks may come to the calls in opposite order.",
                wait_end.ranks,
                decided_by="the source around the calls",
            ),
        ),
    )


def _without_part(facts: Facts, call: Pending) -> tuple[int, ...]:
    """The members that have not come, if all who have show what they send: nothing to those, and something to each
    other member."""
    members = facts.membership.members[call.group]
    if call.slot is None or not set(call.waiting) < set(members) or not made_in_backward(facts, call):
        return ()
    if any(_came_otherwise(facts, rank) for rank in call.waiting):
        return ()
    sent = [splits_of(facts, call, rank, len(members)) for rank in call.waiting]
    if not all(sent):
        return ()
    given = [sum(each[0][n] for each in sent if each is not None) for n in range(len(members))]
    without = tuple(rank for rank, rows in zip(members, given, strict=True) if not rows)
    return without if set(without) == set(members) - set(call.waiting) else ()


def _came_otherwise(facts: Facts, rank: int) -> bool:
    """Whether in its own past another call, by its group and way, always came where its last one is."""
    made = facts.call_table.of_rank(rank)
    if made.height < 3 or made["path"].has_nulls():
        return False
    tokens = in_order(made, "path")
    expected = due(tokens[:-1], 1)
    differs = len(expected) > 0 and int(expected[0]) != int(tokens[-1])
    return differs and always_followed(telling(tokens[:-1]))


def _doing(facts: Facts, rank: int) -> str:
    stand = facts.hosts.get(rank)
    return "went on without the call" + (f", and now: {stand.words}" if stand is not None else "")
