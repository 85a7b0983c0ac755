"""An all_to_all in which what is sent is not what is received.

Where one tensor goes to all, its whole size is recorded, not the splits. If the sums over all members disagree, some
pair disagrees; who it is shows only where the stacks or the dumps tell the splits themselves.
"""

from __future__ import annotations

from rankandfile.model.advice import NEVER_MATCHES
from rankandfile.model.causes import Cause
from rankandfile.model.diagnosis import Alternative, Divergence, Missing, Remedy
from rankandfile.reason.finder import finder
from rankandfile.reason.toolbox import (
    Exchange,
    Facts,
    Pair,
    Pairs,
    Pending,
    WaitEnd,
    call_phrase,
    cited,
    cohort,
    disagreeing,
    diverged,
    exchange,
    first_pending,
    lookup,
    perhaps,
)
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words

CAUSE = Cause(
    word="split_mismatch",
    family="arguments",
    place=30,
    meaning="Ranks disagree on how many elements they exchange.",
    help="What one rank sends to another is not what the other expects. Look at how the split sizes are "
    "made, and whether they were exchanged first.",
    remedies=(
        Remedy(
            title="Exchange the split sizes first",
            text="What rank a sends to b must be what b expects from a: all_to_all the counts, then use "
            "them on both sides.",
        ),
    ),
    anti_advice=(NEVER_MATCHES,),
    did="had another amount than expected",
    title="Splits that do not fit each other",
    page="""
## How it comes about

What a sends to b is not what b expects from a:

```python
dist.all_to_all_single(out, tokens, output_split_sizes=expected, input_split_sizes=routed)
```

Sums per rank may look fine; only the pairs show it. The recorder keeps no split sizes, so that dumps alone can show
that the totals disagree, and not always between whom.
""",
    scenario="split_sizes_disagree",
)


@finder(precedence=50)
def sums_differ(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    call = first_pending(facts, wait_end) if wait_end.kind in ("joined", "behind") else None
    if call is None or call.slot is None:
        return None
    sums = exchange(facts, call.group, call.slot)
    if sums is None:
        return None
    if sums.agrees:
        # All together may fit though two pairs do not.
        return _by_pairs(facts, call)
    told = _by_pairs(facts, call)
    return told if told is not None else _nobody_known(facts, call, sums)


def _nobody_known(facts: Facts, call: Pending, sums: Exchange) -> Finding:
    """Some pair disagrees, or the members are not in the same call: better than nothing, and worse than all else."""
    row = lookup.call_at(facts, call.waiting[0], call.group, call.slot or 0)
    shown = (
        f"In the {call_phrase(facts, call)} all members together send {sums.sent:,} elements and expect "
        f"{sums.expected:,}."
    )
    return Finding(
        cause=CAUSE.word,
        confidence="hypothesis",
        sentence=f"{shown} Which of them announced another number than it sends, the sums do not tell.",
        location=lookup.location_of(facts, row),
        evidence=cited(row),
        contradicted_by="split sizes in a log that agree between all pairs",
        alternatives=(_perhaps_out_of_step(),),
        missing=(
            Missing(
                what="the sizes that each member sends to each other",
                how="py-spy dump --locals --json --pid PID, on each member",
            ),
        ),
    )


def _perhaps_out_of_step() -> Alternative:
    return perhaps(
        "skipped_collective",
        "A member a call ahead or behind would make the sums disagree as well.",
        decided_by="the calls before, with their sizes",
    )


_MOST_PAIRS = 3


def _by_pairs(facts: Facts, call: Pending) -> Finding | None:
    found = disagreeing(facts, call)
    if found is None or call.slot is None:
        return None
    culprits = found.culprits
    return Finding(
        cause=CAUSE.word,
        confidence="supported" if culprits else "established",
        sentence=(
            f"In the {call_phrase(facts, call)}, by the {'sizes' if found.recorded else 'splits'} in their "
            f"{'dumps' if found.recorded else 'stacks'}, {_shown(found)}.{_whose(found)}"
        ),
        culprits=culprits,
        doing=dict.fromkeys(culprits, _doing(found)),
        divergence=_of_pair(facts, call, found),
        location=lookup.location_of(
            facts, lookup.call_at(facts, (culprits or call.waiting)[0], call.group, found.slot)
        ),
        evidence=(*found.evidence, *_told_evidence(facts, call, found)),
        contradicted_by="a later snapshot in which the splits of these pairs agree",
        alternatives=tuple(
            perhaps(
                CAUSE.word,
                f"{ranks_words((rank,)).capitalize()} may expect another number than it was told.",
                [rank],
                decided_by="the source: what both sides make of the numbers that were exchanged",
            )
            for rank in _others_named(found)[:_MOST_PAIRS]
        ),
    )


def _doing(found: Pairs) -> str:
    if found.recorded:
        return "disagrees with its peers on how much goes between them"
    return "sends another number of rows than it had told its peers"


def _others_named(found: Pairs) -> list[int]:
    named = {pair.receiver for pair in found.pairs} | {pair.sender for pair in found.pairs}
    return sorted(named - set(found.culprits))


def _shown(found: Pairs) -> str:
    more = len(found.pairs) - _MOST_PAIRS
    words = "; ".join(_words(pair, found.unit) for pair in found.pairs[:_MOST_PAIRS])
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


def _of_pair(facts: Facts, call: Pending, found: Pairs) -> Divergence:
    pair = found.pairs[0]
    seq, cohorts = found.slot, []
    for rank, words in (
        (pair.receiver, f"expects {pair.expected:,} {found.unit} of rank {pair.sender}"),
        (pair.sender, f"sends {pair.sent:,} {found.unit} to rank {pair.receiver}"),
    ):
        row = lookup.call_at(facts, rank, call.group, found.slot)
        if row is not None:
            seq = row["seq"]
            cohorts.append(cohort(facts, [rank], row, words))
    return diverged(facts, call.group, seq=seq, kind="argument", cohorts=cohorts)


def _told_evidence(facts: Facts, call: Pending, found: Pairs) -> tuple[str, ...]:
    slots = [found.slot] if found.told_at is None else [found.slot, found.told_at]
    rows = [lookup.call_at(facts, found.pairs[0].sender, call.group, slot) for slot in slots]
    return cited(*rows)
