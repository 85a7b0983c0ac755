"""A rank made a collective that its peers did not make."""

from __future__ import annotations

from rankandfile.model.advice import AGREE, FIRST_LOGGER, OUT_OF_STEP
from rankandfile.model.causes import Cause
from rankandfile.model.diagnosis import Remedy
from rankandfile.model.sentence import told
from rankandfile.reason.finder import finder
from rankandfile.reason.toolbox import (
    Facts,
    WaitEnd,
    find_divergence,
    in_all_records,
    in_document,
    lookup,
    made_before,
    missing_history,
    perhaps,
    waiting_sentence,
)
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import again_words, behind_words, counted, ranks_words, upper, verb

CAUSE = Cause(
    word="extra_collective",
    family="paths",
    place=20,
    meaning="Some ranks made a collective that the others did not make.",
    help="The call waits for ranks that never come, or pairs with a later call of theirs. Look for a call "
    "under `if rank == 0`, and for helpers that communicate without saying so: saving, evaluating, "
    "properties.",
    remedies=(
        AGREE,
        Remedy(
            title="Keep collectives out of rank guards",
            text="Under `if rank == 0` write files and logs only; gather or reduce on every rank before it. "
            "Saving, evaluating and reading sharded parameters are collectives even where the code "
            "does not show one.",
        ),
    ),
    anti_advice=(OUT_OF_STEP, FIRST_LOGGER),
    did="made a collective that the others did not",
    title="A rank made a call too many",
    page="""
## How it comes about

A helper communicates without saying so, and only some ranks call it:

```python
if rank == 0:
    log.info("loss %.3f", mean_over_ranks(loss))  # an all_reduce inside
```

The extra call takes the place of the others' next one. A retry after a failure, a property that gathers, and a save of
a sharded model are other ways to it. If the condition asks for the rank itself, the verdict is
[`rank_conditional`](rank_conditional.md).
""",
    scenario="extra-adapter-tp",
)


@finder(precedence=90)
def call_too_many(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    p = find_divergence(facts, wait_end)
    if p is None or p.kind != "extra" or not p.culprits or p.stands:
        # Who left the others' rounds, as stacks show it, is told of as such.
        return None
    made = f"the {lookup.call_words(facts, p.came)}" if p.came else "a collective"
    if p.length > 1:
        made = f"{counted(p.length, 'call')}, beginning with {made}"
    where = f", {p.place}" if p.place else ""
    sentence = (
        f"{upper(ranks_words(p.culprits))} made {made}{',' if p.length > 1 else ''} that the other ranks of the group "
        f"did not make there{where}{in_all_records.ahead_since(facts, p)}"
    )
    twice = p.exact and made_before(facts, p)
    if twice:
        its = verb(p.culprits, "its", "their")
        sentence = (
            f"{upper(ranks_words(p.culprits))} made {made}{',' if p.length > 1 else ''} twice in a row, where the "
            f"other ranks of the group made {'it' if p.length == 1 else 'them'} once{where}; from there on {its} calls "
            f"are {behind_words(p.length)} theirs.{again_words(p.again, p.length, 'behind')}"
        )
    if not p.exact:
        sentence = in_document.since_before(facts, p, "ahead")
    waits = waiting_sentence(facts, wait_end, p.culprits)
    sure = p.exact and p.confirmed >= 2 and len(p.normal) >= 2 * len(p.culprits)
    unclear = p.exact and p.confirmed == 1 and not p.past
    ways = in_document.ways_of(facts, p) if unclear else None
    return Finding(
        # One call that falls into place may as well be the others' call made late.
        cause=CAUSE.word if ways is None else "rank_conditional",
        confidence="established" if sure else "supported",
        sentence=told(sentence, in_document.different_ways(ways), waits),
        culprits=p.culprits,
        doing=dict.fromkeys(
            p.culprits,
            f"made {made.rstrip(',')} {'twice' if twice else 'alone'}"
            if p.exact
            else "made more calls than they",
        ),
        divergence=in_document.divergence(facts, p, "extra"),
        location=lookup.location_of(facts, p.came) if p.exact else None,
        evidence=in_document.evidence(facts, p),
        contradicted_by="a branch on which all ranks should have made the call, so that the others left it out",
        alternatives=in_document.or_otherwise(facts, p)
        if ways is None
        else tuple(
            perhaps(
                cause,
                words,
                p.culprits,
                decided_by="the calls that would follow, or the source at these lines",
            )
            for cause, words in (
                (CAUSE.word, "The call may be one that its peers never make."),
                ("order_inversion", "Its peers may make the same call, only later."),
            )
        ),
        missing=() if p.exact else missing_history(facts.case, facts.call_table, p.group),
    )
