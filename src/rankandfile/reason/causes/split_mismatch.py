"""An all_to_all in which what is sent is not what is received.

Where one tensor goes to all, its whole size is recorded, not the splits. If the sums over all members disagree, some
pair disagrees; who it is shows only where tokens go out and come back: a member whose way back is not the way out,
where all others' is, announced one thing and sent another.
"""

from __future__ import annotations

from rankandfile.model.advice import NEVER_MATCHES
from rankandfile.model.causes import Cause
from rankandfile.model.diagnosis import Alternative, Divergence, Missing, Remedy
from rankandfile.reason.finder import finder
from rankandfile.reason.toolbox import (
    Error,
    Exchange,
    Facts,
    Pair,
    Pairs,
    Pending,
    WaitEnd,
    call_phrase,
    caught_by,
    cited,
    cohort,
    disagreeing,
    diverged,
    exchange,
    find_divergence,
    first_pending,
    lookup,
    odd_one_out,
    perhaps,
    said_to_skip,
)
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, upper, verb

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
    scenario="split-moe",
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
    culprits = odd_one_out(facts, call.group, call.slot)
    if not culprits:
        told = _by_pairs(facts, call)
        named = told is not None and told.culprits
        return told if named else _nobody_known(facts, call, sums, told)
    if _out_of_step(facts, wait_end, culprits):
        return None
    rest = tuple(r for r in facts.membership.members[call.group] if r not in culprits)
    rows = [lookup.call_at(facts, ranks[0], call.group, call.slot) for ranks in (rest, culprits) if ranks]
    known = [row for row in rows if row is not None]
    elsewhere = _at_other_lines(facts, culprits, rest)
    return Finding(
        cause="rank_conditional" if elsewhere else CAUSE.word,
        confidence="supported",
        sentence=(
            f"In the {call_phrase(facts, call)} all members together send {sums.sent:,} elements and expect "
            f"{sums.expected:,}. {upper(ranks_words(culprits))} {verb(culprits, 'sends', 'send')} another number than "
            "on the way back, unlike all others: "
            + (
                "by the stacks it is in another call than they."
                if elsewhere
                else "what it announced is not what it sends."
            )
        ),
        culprits=culprits,
        doing=dict.fromkeys(culprits, "sends another number of elements than its peers expect"),
        divergence=diverged(
            facts,
            call.group,
            seq=known[0]["seq"] if known else call.slot,
            kind="argument",
            cohorts=[
                cohort(facts, ranks, row, lookup.size_words(facts, row))
                for ranks, row in zip((rest, culprits), known, strict=False)
            ],
        ),
        location=lookup.location_of(facts, known[-1]) if known else None,
        evidence=(*cited(*known), *(_stacks(facts, (*culprits, *rest)[:4]) if elsewhere else ())),
        contradicted_by="split sizes in a log that agree between all pairs",
        alternatives=(_perhaps_out_of_step(),),
    )


def _nobody_known(facts: Facts, call: Pending, sums: Exchange, told: Finding | None) -> Finding:
    """Some pair disagrees, or the members are not in the same call: better than nothing, and worse than all else."""
    row = lookup.call_at(facts, call.waiting[0], call.group, call.slot or 0)
    said = said_to_skip(facts, call)
    shown = (
        f"In the {call_phrase(facts, call)} all members together send {sums.sent:,} elements and expect "
        f"{sums.expected:,}."
    )
    if said and row is not None:
        return _left_out(facts, row, shown, said)
    if told is not None:
        return told
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


def _left_out(facts: Facts, row: lookup.Row, shown: str, said: dict[int, Error]) -> Finding:
    """They are a call or a batch ahead, as their own logs say."""
    culprits = tuple(sorted(said))
    words = "; ".join(f"rank {rank} says '{said[rank].words[:160]}'" for rank in culprits[:3])
    return Finding(
        cause=caught_by(said),
        confidence="supported",
        sentence=(
            f"{shown} Just before it {words}, and no other member says such a thing: "
            f"{ranks_words(culprits)} {verb(culprits, 'is', 'are')} in another round than they."
        ),
        culprits=culprits,
        doing={rank: f"says '{said[rank].words[:80]}'" for rank in culprits},
        location=lookup.location_of(facts, row),
        evidence=(lookup.evidence_of(row), *(i for error in said.values() for i in error.evidence)),
        contradicted_by="split sizes in a log that agree between all pairs",
        alternatives=(
            perhaps(
                CAUSE.word,
                "The line may mean nothing, and a member announced another number than it sends.",
                decided_by="the sizes that each member sends to each other",
            ),
        ),
    )


def _perhaps_out_of_step() -> Alternative:
    return perhaps(
        "skipped_collective",
        "A member a call ahead or behind would make the sums disagree as well.",
        decided_by="the calls before, with their sizes",
    )


def _out_of_step(facts: Facts, wait_end: WaitEnd, culprits: tuple[int, ...]) -> bool:
    """They are in another call of theirs: of course its sizes do not fit."""
    p = find_divergence(facts, wait_end)
    return p is not None and p.kind != "argument" and set(culprits) <= set(p.culprits)


def _at_other_lines(facts: Facts, ranks: tuple[int, ...], others: tuple[int, ...]) -> bool:
    """By their stacks: where the recorder kept no frames, this tells that they are in another call."""
    mine, theirs = (
        {(s.location.file, s.location.line) for r in some if (s := facts.hosts.get(r)) is not None}
        for some in (ranks, others)
    )
    return bool(mine and theirs) and not mine & theirs


def _stacks(facts: Facts, ranks: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(i for rank in ranks if rank in facts.hosts for i in facts.hosts[rank].evidence)


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
