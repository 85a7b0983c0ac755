"""A split mismatch that dumps, or stacks with their variables, show pair by pair."""

from __future__ import annotations

from rankandfile.model.diagnosis import Alternative, Cohort, Divergence
from rankandfile.model.ranks import format_ranks
from rankandfile.reason import lookup
from rankandfile.reason.calls.split_pairs import Pair, Pairs, disagreeing
from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import call_phrase
from rankandfile.reason.words import ranks_words

CAUSE = "split_mismatch"
_MOST = 3


def by_pairs(facts: Facts, wait_end: WaitEnd, call: Pending) -> Finding | None:
    found = disagreeing(facts, call)
    if found is None or call.slot is None:
        return None
    culprits = found.culprits
    return Finding(
        cause=CAUSE,
        confidence="supported" if culprits else "established",
        sentence=(
            f"In the {call_phrase(facts, call)}, by the {'sizes' if found.recorded else 'splits'} in their "
            f"{'dumps' if found.recorded else 'stacks'}, {_shown(found)}.{_whose(found)}"
        ),
        culprits=culprits,
        doing=dict.fromkeys(culprits, _doing(found)),
        divergence=_divergence(facts, call, found),
        location=lookup.location_of(
            facts, lookup.call_at(facts, (culprits or call.waiting)[0], call.group, found.slot)
        ),
        evidence=(*found.evidence, *_told_evidence(facts, call, found)),
        contradicted_by="a later snapshot in which the splits of these pairs agree",
        alternatives=tuple(
            Alternative(
                cause=CAUSE,
                confidence="hypothesis",
                sentence=f"{ranks_words((rank,)).capitalize()} may expect another number than it was told.",
                culprits=str(rank),
                decided_by="the source: what both sides make of the numbers that were exchanged",
            )
            for rank in _others(found)[:_MOST]
        ),
        explains=len(wait_end.victims),
    )


def _doing(found: Pairs) -> str:
    if found.recorded:
        return "disagrees with its peers on how much goes between them"
    return "sends another number of rows than it had told its peers"


def _others(found: Pairs) -> list[int]:
    named = {pair.receiver for pair in found.pairs} | {pair.sender for pair in found.pairs}
    return sorted(named - set(found.culprits))


def _shown(found: Pairs) -> str:
    more = len(found.pairs) - _MOST
    words = "; ".join(_words(pair, found.unit) for pair in found.pairs[:_MOST])
    return words + (f"; and {more} more pairs disagree" if more > 0 else "")


def _words(pair: Pair, unit: str) -> str:
    return f"rank {pair.sender} sends {pair.sent:,} {unit} to rank {pair.receiver}, which expects {pair.expected:,}"


def _whose(found: Pairs) -> str:
    if found.recorded and found.culprits:
        return f" All others agree among themselves: rank {found.odd_one} is the odd one out."
    if found.told_at is None:
        return " Which of the two numbers is wrong, they do not tell."
    return (
        f" Each member had told the others how much it would send, in call {found.told_at} of the group: what a "
        "receiver expects is the sender's own word."
    )


def _divergence(facts: Facts, call: Pending, found: Pairs) -> Divergence:
    pair = found.pairs[0]
    seq, cohorts = found.slot, []
    for rank, words in (
        (pair.receiver, f"expects {pair.expected:,} {found.unit} of rank {pair.sender}"),
        (pair.sender, f"sends {pair.sent:,} {found.unit} to rank {pair.receiver}"),
    ):
        row = lookup.call_at(facts, rank, call.group, found.slot)
        if row is not None:
            seq = row["seq"]
            cohorts.append(Cohort(ranks=format_ranks([rank]), call=lookup.as_call(facts, row, words)))
    return Divergence(
        group=lookup.group_words(facts, call.group),
        seq=seq,
        kind="argument",
        cohorts=cohorts,
        members=lookup.members_text(facts, call.group),
    )


def _told_evidence(facts: Facts, call: Pending, found: Pairs) -> tuple[str, ...]:
    slots = [found.slot] if found.told_at is None else [found.slot, found.told_at]
    rows = [lookup.call_at(facts, found.pairs[0].sender, call.group, slot) for slot in slots]
    return tuple(lookup.evidence_of(row) for row in rows if row)
