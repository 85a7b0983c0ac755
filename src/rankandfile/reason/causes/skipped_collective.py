"""A rank left out a collective that its peers made, and went on: from there on it is out of step."""

from __future__ import annotations

from rankandfile.model.advice import AGREE, FIRST_LOGGER, FLAG, OUT_OF_STEP
from rankandfile.model.causes import Cause
from rankandfile.model.diagnosis import Alternative
from rankandfile.model.sentence import Presumed, Sentence, told
from rankandfile.reason.finder import finder
from rankandfile.reason.toolbox import (
    DivergencePoint,
    Facts,
    WaitEnd,
    find_divergence,
    in_document,
    lookup,
    missing_history,
    perhaps,
    waiting_sentence,
)
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import again_words, behind_words, counted, ranks_words, upper, verb

CAUSE = Cause(
    word="skipped_collective",
    family="paths",
    place=10,
    meaning="Some ranks left out a collective that the others made.",
    help="The ranks that made the call wait for those that did not. From there on the skipping ranks are "
    "one call ahead, so that the job often stops much later, at a call that is not to blame. Look for "
    "the condition that leads around the call, and for what in it can differ between ranks.",
    remedies=(AGREE, FLAG),
    anti_advice=(OUT_OF_STEP, FIRST_LOGGER),
    did="skipped a collective",
    title="A rank left out a call",
    page="""
## How it comes about

A rank skips a bad batch, an empty expert or an unused parameter, and with it a collective:

```python
if not torch.isfinite(loss):
    continue  # this rank only: the backward's all_reduce is left out
loss.backward()
```

The rank goes on and makes the *next* call, which pairs with the call that it left out. Where both have the same size,
nothing stops: the job trains on wrong numbers until two calls no longer fit. That is why the place where it stopped is
often far from the place where it went wrong. Look at the divergence, not at the last call.
""",
    scenario="skip-nonfinite-3d",
)


@finder(precedence=80)
def out_of_step(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    p = find_divergence(facts, wait_end)
    if p is None or p.kind != "skipped" or not p.culprits:
        return None
    row = p.expected
    missed = f"the {lookup.call_words(facts, row)}" if row else "a collective"
    if p.length > 1:
        missed = f"{counted(p.length, 'call')}, beginning with {missed}"
    where = f", {p.place}" if p.place else ""
    its = verb(p.culprits, "its", "their")
    since = (
        f"from there on {its} calls are {behind_words(p.length)}.{again_words(p.again, p.length, 'behind')}"
    )
    several = p.came is not None and _several_at_once(p)
    if p.came is not None and several:
        since = f"the {lookup.call_words(facts, p.came)} came after them in the rounds before."
    skipped = f"{upper(ranks_words(p.culprits))} skipped {missed}{where}; {since}"
    sentence: Sentence = skipped
    if row is not None and p.length == 1 and not several:
        sentence = told(Presumed(what="skipped a call", words=skipped, instead=_later(p, missed + where)))
    if not p.exact:
        sentence = in_document.since_before(facts, p, "behind")
    if p.stands:
        stand = facts.hosts[p.culprits[0]]
        sentence = (
            f"{upper(ranks_words(p.culprits))} went past {missed}{where}, which "
            f"{ranks_words(p.normal)} made at that point. {upper(ranks_words(p.culprits))} "
            f"{verb(p.culprits, 'stands', 'stand')} after it, by {its} {verb(p.culprits, 'stack', 'stacks')}: "
            f"{stand.phrase}."
        )
    waits = waiting_sentence(facts, wait_end, p.culprits)
    return Finding(
        cause=CAUSE.word,
        confidence="established" if _sure(p) else "supported",
        sentence=told(sentence, waits),
        culprits=p.culprits,
        doing={r: _doing(facts, p, r) for r in p.culprits},
        divergence=in_document.divergence(facts, p, "skipped"),
        location=lookup.location_of(facts, row) if p.exact else None,
        evidence=in_document.evidence(facts, p),
        contradicted_by="a record of the missing call on the rank, or a branch that lets the others make it alone",
        alternatives=_alternatives(facts, p),
        missing=() if p.exact else missing_history(facts.case, facts.call_table, p.group),
    )


def _later(p: DivergencePoint, call: str) -> str:
    """Who has, as the source may show, another round to make before it comes to the call has not skipped it."""
    has, is_ = verb(p.culprits, "has", "have"), verb(p.culprits, "it is", "they are")
    return f"{upper(ranks_words(p.culprits))} {has} not come to {call}: {is_} in another round of the loop before it."


def _sure(p: DivergencePoint) -> bool:
    """One more call in place could be chance; a bare majority is a convention, not a proof; and what the rings lost
    may have been more than one call."""
    return p.exact and p.confirmed >= 2 and len(p.normal) >= 2 * len(p.culprits)


def _doing(facts: Facts, p: DivergencePoint, rank: int) -> str:
    if p.stands:
        return f"went past it, and now: {facts.hosts[rank].words}"
    if p.against is not None:
        return "made fewer calls than the others"
    return f"went on to the {lookup.call_words(facts, p.came)}" if p.came else "went on without it"


def _several_at_once(p: DivergencePoint) -> bool:
    """What came in place of the first of them is its last call: nothing after it shows that they were left out."""
    return p.exact and p.length > 1 and not p.confirmed


def _alternatives(facts: Facts, p: DivergencePoint) -> tuple[Alternative, ...]:
    if not p.exact or p.confirmed >= 2 or p.came is None:
        return in_document.or_otherwise(facts, p)
    came = lookup.call_words(facts, p.came)
    one_more = perhaps(
        "extra_collective",
        f"The {came} may be one more than its peers make there, with nothing left out.",
        p.culprits,
        decided_by="the source at these lines",
    )
    return (
        *((one_more,) if _several_at_once(p) else ()),
        perhaps(
            "order_inversion",
            f"It may have meant to make the missing call after the {came}, in the other order.",
            decided_by="the code that follows that call on this rank",
        ),
    )
