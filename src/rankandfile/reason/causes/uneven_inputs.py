"""Found in the source: the loop over a rank's own share of the data ended, and nothing else differs.

By the calls alone where a rank answers the others from torch's Join, where whoever has no batch left stands.
"""

from __future__ import annotations

from rankandfile.model.advice import FIRST_LOGGER, OUT_OF_STEP
from rankandfile.model.causes import Cause
from rankandfile.model.diagnosis import Cohort, Remedy
from rankandfile.model.ranks import format_ranks
from rankandfile.model.sentence import told
from rankandfile.reason.finder import finder
from rankandfile.reason.toolbox import (
    Facts,
    Unanswered,
    WaitEnd,
    as_call,
    cited,
    diverged,
    lookup,
    of_call,
    perhaps,
    unanswered,
    waiting_sentence,
)
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, upper, verb

CAUSE = Cause(
    word="uneven_inputs",
    family="paths",
    place=60,
    meaning="Some ranks ran out of data before the others.",
    help="Whoever has fewer batches makes fewer collectives. Look at how the data are divided, and at "
    "dropped or filtered samples.",
    remedies=(
        Remedy(
            title="Let all ranks run out of data together",
            text="Give every rank the same number of batches (drop_last, padding, a sampler that knows all "
            "ranks), reduce 'has another batch' (MIN) before each step, or train under the join "
            "context of DDP.",
        ),
        Remedy(
            title="Under Join, make no call that it does not answer",
            text="Join answers for ranks without a batch what the modules it is given call, such as DDP's reductions. "
            "Sum up metrics after it, or hand it a Joinable of your own for them.",
        ),
    ),
    anti_advice=(OUT_OF_STEP, FIRST_LOGGER),
    did="ran out of data first",
    title="A rank ran out of data",
    page="""
## How it comes about

One rank has a batch less than the others:

```python
for batch in DataLoader(shards[rank]):  # shards of unequal length
    step(batch)
```

The call that ends the loop on one rank is the loader's, not a decision of the program; that is what tells it from
[`early_exit`](early_exit.md). Cut or pad the shards, use `drop_last`, torch's `Join`, or
[`guard.uneven`](../guards.md).
""",
    scenario="uneven_shards",
)


@finder(precedence=25)
def answers_from_join(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    """Who is out of the loop under Join answers the others' calls, those that it knows of: they made another one."""
    if wait_end.kind != "mismatched":
        return None
    for index in wait_end.pending:
        call = facts.waits.pending[index]
        if (found := unanswered(facts, call)) is not None:
            return _finding(facts, wait_end, call.group, found)
    return None


def _finding(facts: Facts, wait_end: WaitEnd, group: int, found: Unanswered) -> Finding:
    ended, others = found.ended, found.others
    sides = ((others, found.due), (ended, found.answer))
    return Finding(
        cause="uneven_inputs",
        confidence="supported",
        sentence=told(
            f"{upper(ranks_words(ended))} {verb(ended, 'is', 'are')} at the end of torch's Join, as who has no batch "
            f"left, and {verb(ended, 'answers', 'answer')} from there those calls of the others that it knows. "
            f"{upper(ranks_words(others))} made the {lookup.call_words(facts, found.due)}, which it does not answer.",
            waiting_sentence(facts, wait_end, ended),
        ),
        culprits=ended,
        doing=dict.fromkeys(ended, "at the end of torch's Join, as who has no batch left"),
        divergence=diverged(
            facts,
            group,
            seq=found.due["slot"],
            kind="substituted",
            cohorts=[
                Cohort(ranks=format_ranks(ranks), call=as_call(of_call(facts, row), row["slot"]))
                for ranks, row in sides
            ],
            exact=True,
        ),
        location=lookup.location_of(facts, found.due),
        evidence=cited(found.due, found.answer),
        contradicted_by="a batch that these ranks had still to come to",
        alternatives=(
            perhaps(
                "early_exit",
                f"{upper(ranks_words(ended))} may have left the loop under Join with batches left.",
                ended,
                decided_by="the source: what else ends that loop",
            ),
        ),
    )
