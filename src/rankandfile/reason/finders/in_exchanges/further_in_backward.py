"""An all_to_all of a backward pass in which one is at another layer than its peers: its graph lacked those between.

Where no earlier pass shows which layer each is at, that amounts disagree says as little of the amounts: those of two
layers do not fit each other, and those of one layer fitted in its forward pass.
"""

from __future__ import annotations

from rankandfile.model.column import Row
from rankandfile.model.diagnosis import Alternative, Divergence
from rankandfile.model.sentence import told
from rankandfile.reason import lookup
from rankandfile.reason.calls.exchanges.split_pairs import Pairs, disagreeing
from rankandfile.reason.calls.exchanges.undone import Further, further_in_backward, made_in_backward
from rankandfile.reason.document import cited, cohort, diverged, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import call_phrase, first_pending, pending_row
from rankandfile.reason.words import counted, ranks_words, upper, verb


@finder(precedence=47)
def left_out_in_backward(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    call = first_pending(facts, wait_end) if wait_end.kind in ("joined", "behind") else None
    further = further_in_backward(facts, call.group, call.slot) if call is not None and call.slot else None
    if call is None or call.slot is None or further is None:
        return None
    ranks = further.ranks
    rest = [rank for rank in facts.membership.members[call.group] if rank not in ranks]
    row, theirs = (lookup.call_at(facts, each[0], call.group, call.slot) for each in (ranks, rest))
    undone, due = (
        lookup.call_at(facts, each[0], call.group, slot)
        for each, slot in ((ranks, further.undoes), (rest, further.due))
    )
    its = verb(ranks, "its call undoes", "their calls undo")
    return Finding(
        cause="skipped_collective",
        confidence="supported",
        sentence=told(
            f"{upper(ranks_words(ranks))} left out {counted(further.left_out, 'call')} of a backward pass. All members "
            f"made the {call_phrase(facts, call)}, and by their sizes {its} exchange {further.undoes} of the group, "
            f"where {ranks_words(tuple(rest))} {verb(rest, 'undoes', 'undo')} exchange {further.due}, as that call of "
            "the pass did each time before."
        ),
        culprits=ranks,
        doing=dict.fromkeys(ranks, "is further in its backward pass than the others"),
        divergence=_two_layers(facts, call, further, rest, row, theirs),
        location=lookup.location_of(facts, row),
        evidence=cited(row, undone, theirs, due),
        contradicted_by="splits of the backward pass that are not those of the forward pass",
        alternatives=(_other_numbers(),),
        instead_of="split_mismatch",
    )


def _other_numbers() -> Alternative:
    return perhaps(
        "split_mismatch",
        "A backward pass may exchange other numbers than its forward pass did.",
        decided_by="the source: where the splits of the backward pass come from",
    )


@finder(precedence=51)
def perhaps_of_two_layers(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    call = first_pending(facts, wait_end) if wait_end.kind in ("joined", "behind") else None
    if call is None or not made_in_backward(facts, call):
        return None
    found = disagreeing(facts, call)
    if found is None or found.told_at is not None or len(found.pairs) < 2 or found.slot != call.slot:
        return None
    odd = _alone_elsewhere(found)
    pair = found.pairs[0]
    alone = (
        f" Rank {odd} has a part in all of them: the others agree among themselves."
        if odd is not None
        else ""
    )
    return Finding(
        cause="skipped_collective",
        confidence="hypothesis",
        sentence=(
            f"{upper(ranks_words(call.waiting))} wait in the {call_phrase(facts, call)} of a backward pass, and "
            f"{counted(len(found.pairs), 'pair')} disagree on how much they exchange: rank {pair.sender} sends "
            f"{pair.sent:,} {found.unit} to rank {pair.receiver}, which expects {pair.expected:,}. Calls of all layers "
            "come by one line there: some may be at another layer than the others, as their own backward pass lacks "
            f"the layers between.{alone}"
        ),
        culprits=() if odd is None else (odd,),
        doing={} if odd is None else {odd: "disagrees with all others, who agree among themselves"},
        location=lookup.location_of(facts, pending_row(facts, call)),
        evidence=found.evidence,
        contradicted_by="forward passes in which these pairs disagree as well",
        alternatives=(_other_numbers(),),
        instead_of="split_mismatch",
    )


def _alone_elsewhere(found: Pairs) -> int | None:
    """Who is at another layer than all others; not where it sends them nothing: then it may be they who had no part in
    the layer that it is at."""
    odd = found.odd_one
    given = [pair.sent for pair in found.pairs if pair.sender == odd]
    return odd if odd is not None and (any(given) or not given) else None


def _two_layers(
    facts: Facts,
    call: Pending,
    further: Further,
    rest: list[int],
    row: Row | None,
    theirs: Row | None,
) -> Divergence:
    return diverged(
        facts,
        call.group,
        seq=row["seq"] if row else call.slot,
        # They are in one collective; what sets them apart is what they gave to it.
        kind="argument",
        cohorts=[
            cohort(facts, rest, theirs, f"undoes exchange {further.due}"),
            cohort(facts, further.ranks, row, f"undoes exchange {further.undoes}"),
        ],
    )
