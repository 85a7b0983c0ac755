"""It raised an exception of its own, and ended, or is on its way out."""

from __future__ import annotations

from rankandfile.model.advice import FIRST_LOGGER
from rankandfile.model.causes import Cause
from rankandfile.model.diagnosis import Alternative, Confidence, Remedy
from rankandfile.model.sentence import told
from rankandfile.reason.finder import finder, teller
from rankandfile.reason.toolbox import (
    AskedRank,
    Facts,
    Story,
    WaitEnd,
    find_divergence,
    in_document,
    location_of,
    lookup,
    perhaps,
    waiting_sentence,
)
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, upper

CAUSE = Cause(
    word="raised",
    family="process",
    place=10,
    meaning="A rank raised an exception.",
    help="The exception took it away from the collective in which the others wait. Its own traceback is the "
    "place to start; the timeouts of the other ranks only follow from it.",
    remedies=(
        Remedy(
            title="Let the exception end the whole job at once",
            text="Do not destroy the process group or make a collective on the way out of an exception; "
            "print it, and exit with an error, so that the launcher ends the others.",
        ),
    ),
    anti_advice=(FIRST_LOGGER,),
    did="raised an exception",
    title="A rank raised an exception",
    page="""
## How it comes about

The traceback stands in the log of one rank; timeouts of the others come half an hour later and fill the screen. If the
rank then tries to clean up, it may hang itself:

```python
try:
    train()
finally:
    dist.destroy_process_group()  # waits for the others, who wait for this rank
```

Start with the traceback.
""",
    scenario="raised-ddp",
)


@finder(precedence=75)
def on_its_way_out(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    """Its last call was made while an exception was handled: a `finally`, an `__exit__`, which its peers are not at."""
    p = find_divergence(facts, wait_end)
    if p is None or p.kind == "argument" or not facts.accounts.in_flight:
        return None
    flying = set(facts.accounts.in_flight)
    sides = ((p.normal, p.expected, p.other, p.came), (p.other, p.came, p.normal, p.expected))
    for ranks, row, others, theirs in sides:
        if not ranks or not set(ranks) <= flying or set(others) & flying or row is None:
            continue
        errors = {rank: facts.accounts.in_flight[rank] for rank in ranks}
        first = next(iter(errors.values()))
        call = f"the {lookup.call_words(facts, row)}"
        where = f", where {ranks_words(others)} made the {lookup.call_words(facts, theirs)}" if theirs else ""
        sentence = (
            f"{upper(ranks_words(ranks))} raised {first.words}, and made {call} while handling it{where}."
        )
        return Finding(
            cause=CAUSE.word,
            confidence="supported",
            sentence=told(sentence, waiting_sentence(facts, wait_end, ranks)),
            culprits=ranks,
            doing={rank: f"raised {error.words}, and is in {call}" for rank, error in errors.items()},
            divergence=in_document.divergence(facts, p, p.kind),
            location=location_of(first.place),
            evidence=(
                *(i for error in errors.values() for i in error.evidence),
                *in_document.evidence(facts, p),
            ),
            contradicted_by="the same exception on the other ranks",
        )
    return None


#: What a process still does after an exception that nobody caught.
_LEAVING = ("teardown", "exception")


@teller(precedence=40)
def by_its_own_exception(facts: Facts, asked: AskedRank) -> Story | None:
    error = facts.accounts.raised.get(asked.rank)
    if error is None or error.thread is not None:
        return None
    end = facts.accounts.ends.get(asked.rank)
    stand = facts.hosts.get(asked.rank)
    doing = f"raised {error.words}"
    evidence = error.evidence
    confidence: Confidence = "supported"
    alternatives: tuple[Alternative, ...] = ()
    if end is not None and end.kind == "exited":
        doing, evidence, confidence = f"{doing}, and {end.words}", (*evidence, *end.evidence), "established"
    elif stand is not None and stand.activity in _LEAVING:
        doing, evidence = f"{doing}, and is {stand.words}", (*evidence, *stand.evidence)
    elif stand is not None:
        # It goes on: whoever raised was caught.
        return None
    else:
        alternatives = (
            perhaps(
                "swallowed_exception",
                "The exception may have been caught, and the program gone on without the call.",
                [asked.rank],
                decided_by="its stack or its exit code",
            ),
        )
    return Story(
        cause=CAUSE.word,
        confidence=confidence,
        doing=doing,
        evidence=evidence,
        location=location_of(error.place),
        alternatives=alternatives,
        contradicted=end.contradicted if end else (),
    )
