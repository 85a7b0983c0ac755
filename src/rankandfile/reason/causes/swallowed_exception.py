"""It raised an exception, caught it and went on: past the call that its peers made.

That it took another path follows from the calls. That the exception led it there is what its log suggests: nothing
else is known to have happened to it, and its process did not end.
"""

from __future__ import annotations

from msgspec.structs import replace

from rankandfile.model.advice import FIRST_LOGGER, FLAG, OUT_OF_STEP
from rankandfile.model.causes import Cause
from rankandfile.model.diagnosis import Alternative, Remedy
from rankandfile.model.ranks import format_ranks
from rankandfile.model.sentence import told
from rankandfile.reason.finder import Finder, finder
from rankandfile.reason.toolbox import Facts, WaitEnd, location_of
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, upper, verb

from .different_collective import another_call
from .early_exit import left_the_loop
from .extra_collective import call_too_many
from .skipped_collective import out_of_step

CAUSE = Cause(
    word="swallowed_exception",
    family="paths",
    place=80,
    meaning="A rank caught an exception and went on without the calls that it skipped.",
    help="The exception took the rank past a collective, and the handler hid that. Look for `except` around "
    "code that communicates.",
    remedies=(
        FLAG,
        Remedy(
            title="Catch nothing around a collective that the others will still make",
            text="Either let the exception end the job, or make the calls that the peers make in any case.",
        ),
    ),
    anti_advice=(OUT_OF_STEP, FIRST_LOGGER),
    did="caught an exception and went on",
    title="An exception was caught, and the call left out",
    page="""
## How it comes about

The handler hides that the ranks are out of step:

```python
try:
    loss = step(batch)  # raises on one rank, before its all_reduce
except ValueError:
    log.warning("bad batch")
    continue
```

The log of that rank shows a warning long before the hang, and nothing ties the two together. The verdict does.
""",
    scenario="batch_error_swallowed",
)


@finder(precedence=150)
def caught_and_went_on(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    every = (look(facts, wait_end) for look in _ways_to_another_path())
    base = next((found for found in every if found is not None and found.culprits), None)
    if base is None:
        return None
    errors = {rank: facts.accounts.raised.get(rank) for rank in base.culprits}
    known = {rank: error for rank, error in errors.items() if error is not None}
    if len(known) < len(errors) or any(facts.accounts.gone(rank) for rank in known):
        return None
    first = next(iter(known.values()))
    others = set(facts.accounts.raised) - set(known)
    if any(facts.accounts.raised[rank].words == first.words for rank in others):
        # All of them met it: it does not set these apart.
        return None
    raised = "; ".join(f"{ranks_words([rank])} raised {error.words}" for rank, error in known.items())
    return replace(
        base,
        cause=CAUSE.word,
        confidence="supported",
        sentence=told(
            base.sentence,
            f"Before that, {raised}, and went on: {verb(base.culprits, 'its', 'their')} process did not end. The "
            "exception was caught, and the call left out.",
        ),
        doing={
            rank: f"raised {error.words}, caught it, and {base.doing.get(rank, 'went on')}"
            for rank, error in known.items()
        },
        location=location_of(first.place) or base.location,
        evidence=(*base.evidence, *(i for error in known.values() for i in error.evidence)),
        alternatives=(
            Alternative(
                cause=base.cause,
                confidence=base.confidence,
                sentence=f"{upper(ranks_words(base.culprits))} may have taken the other path for another reason.",
                culprits=format_ranks(base.culprits),
                decided_by="the source between the exception and the call",
            ),
            *base.alternatives,
        ),
        instead_of=base.cause,
    )


def _ways_to_another_path() -> tuple[Finder, ...]:
    from rankandfile.reason.finders.watchdogs_disagree import watchdogs_disagree

    return out_of_step, call_too_many, left_the_loop, another_call, watchdogs_disagree
