"""A rank left the loop that its peers are still in, and came to a call that lies behind it."""

from __future__ import annotations

from rankandfile.model.advice import AGREE, FIRST_LOGGER, FLAG, OUT_OF_STEP
from rankandfile.model.causes import Cause
from rankandfile.model.sentence import told
from rankandfile.reason.finder import finder, teller
from rankandfile.reason.toolbox import (
    AskedRank,
    DivergencePoint,
    Facts,
    Story,
    WaitEnd,
    find_divergence,
    in_document,
    lookup,
    perhaps,
    waiting_sentence,
)
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, upper, verb

CAUSE = Cause(
    word="early_exit",
    family="paths",
    place=50,
    meaning="Some ranks left the loop or the program before the others.",
    help="The others go on to the next collective and wait for ranks that are no longer there. Look for "
    "stopping rules that each rank decides for itself.",
    remedies=(AGREE, FLAG),
    anti_advice=(OUT_OF_STEP, FIRST_LOGGER),
    did="left early",
    title="A rank left the loop early",
    page="""
## How it comes about

A rule for stopping is decided by each rank for itself:

```python
if validation_loss(local_shard) > best:  # local: differs between ranks
    break
```

The rank that stops goes on to the final barrier or ends; the others make the next step. Agree on the decision: reduce
the flag, or use [`guard.agree`](../guards.md).
""",
    scenario="early-stop-3d",
)


@finder(precedence=130)
def left_the_loop(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    p = find_divergence(facts, wait_end)
    if p is None or p.how != "left" or not p.culprits or p.came is None or not (p.expected or p.stands):
        return None
    where = p.place
    beside = (
        f"{verb(p.normal, 'makes', 'make')} the {lookup.call_words(facts, p.expected)}"
        f"{f', {where},' if where else ''} and {verb(p.normal, 'begins', 'begin')} another round of what came before it"
        if p.expected is not None
        else _in_the_next_round(facts, p)
    )
    came = f"{verb(p.culprits, 'is', 'are')} in the {lookup.call_words(facts, p.came)}"
    # A round of calls need be no loop of the program, nor what stands behind it be outside of one.
    sentence = f"{upper(ranks_words(p.culprits))} {came}, where {ranks_words(p.normal)} {beside}."
    return Finding(
        cause=CAUSE.word,
        confidence="supported",
        sentence=told(
            sentence, in_document.perhaps_left(p.culprits), waiting_sentence(facts, wait_end, p.culprits)
        ),
        culprits=p.culprits,
        doing=dict.fromkeys(p.culprits, f"is in the {lookup.call_words(facts, p.came)}"),
        divergence=in_document.divergence(facts, p, "substituted" if p.expected else "extra"),
        location=lookup.location_of(facts, p.expected or p.came),
        evidence=in_document.evidence(facts, p),
        contradicted_by="a path inside the loop that leads to the call",
        alternatives=tuple(
            perhaps(cause, words, p.culprits, decided_by=decided_by or in_document.BY_SOURCE)
            for cause, words, decided_by in _AS_WELL
        ),
    )


#: Cause, words, and what decides; where nothing is said of that, the source does.
_AS_WELL = (
    (
        "rank_conditional",
        "It may be in the loop still, and a condition have led it alone to that call.",
        "",
    ),
    (
        "extra_collective",
        "It may be in the loop still, and have made a call more than the others.",
        "",
    ),
    (
        "uneven_inputs",
        "Its share of the data may have ended before that of the others.",
        "the number of batches per rank",
    ),
    ("swallowed_exception", "An exception may have ended the loop and been caught.", "its log"),
)


def _in_the_next_round(facts: Facts, p: DivergencePoint) -> str:
    phrase = facts.hosts[p.normal[0]].phrase
    alike = all(facts.hosts[rank].phrase == phrase for rank in p.normal)
    return (
        f"{verb(p.normal, 'is', 'are')} in the next round of what came before it, "
        f"{'' if alike else f'rank {p.normal[0]} '}{phrase}"
    )


@teller(precedence=60)
def left_the_program(facts: Facts, asked: AskedRank) -> Story | None:
    """Its program came to its end, and its process exited well, while the others still wait for it."""
    end = facts.accounts.ends.get(asked.rank)
    if end is None or end.kind != "finished" or _others_went_on(facts, asked):
        return None
    return Story(
        cause=CAUSE.word,
        confidence="supported",
        doing=f"left the program early, and {end.words}",
        evidence=end.evidence,
        alternatives=(
            perhaps(
                "uneven_inputs",
                "Its share of the data may have ended before that of the others.",
                [asked.rank],
                decided_by="the number of batches per rank",
            ),
        ),
        contradicted=end.contradicted,
    )


def _others_went_on(facts: Facts, asked: AskedRank) -> bool:
    """Whoever waited for it ended well too: so it came, and the wait was over."""
    ends = facts.accounts.ends
    return any(rank in ends and ends[rank].kind == "finished" for rank in asked.waiting)
