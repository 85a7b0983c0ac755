"""It raised an exception, caught it and went on: past the call that its peers made.

That it took another path follows from the calls. That the exception led it there is what its log suggests: nothing
else is known to have happened to it, and its process did not end.
"""

from __future__ import annotations

from dataclasses import replace

from rankandfile.model.diagnosis import Alternative
from rankandfile.model.ranks import format_ranks
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.did_instead import location_of
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.words import ranks_words, upper, verb

from . import different_collective, disagree, early_exit, elsewhere, extra_collective, skipped_collective

CAUSE = "swallowed_exception"

_PATHS = tuple(
    module.find
    for module in (
        skipped_collective, extra_collective, early_exit, different_collective, disagree, elsewhere,
    )
)  # fmt: skip


def find(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    base = next(
        (found for find_path in _PATHS if (found := find_path(facts, wait_end)) and found.culprits), None
    )
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
    finding: Finding = replace(
        base,
        cause=CAUSE,
        confidence="supported",
        sentence=f"{base.sentence} Before that, {raised}, and went on: {verb(base.culprits, 'its', 'their')} "
        "process did not end. The exception was caught, and the call left out.",
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
    return finding
