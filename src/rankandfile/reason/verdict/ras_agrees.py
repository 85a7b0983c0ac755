"""What NCCL's RAS says of the ranks that a verdict names: where it says the same, its answer is evidence for it.

That RAS finds nothing proves nothing. Where it says otherwise than the dumps, that is a contradiction, and shown.
"""

from __future__ import annotations

import msgspec

from rankandfile.model.causes import CAUSES
from rankandfile.model.diagnosis import Verdict
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.devices_and_processes import ranks_of_processes
from rankandfile.reason.ranks.did_instead import world_of
from rankandfile.reason.ranks.ras_counts import launches, missed_by_ras
from rankandfile.reason.words import ranks_words, verb

_NOT_ANSWERING = ("host", "process", "fabric", "start_and_end")
"""Families whose culprits may not answer: a process that only waits for others does."""


def with_ras(facts: Facts, verdict: Verdict) -> Verdict:
    culprits = tuple(culprit.rank for culprit in verdict.culprits)
    if not verdict.hang or not culprits:
        return verdict
    said = _same_counts(facts, culprits) or _not_answering(facts, verdict, culprits)
    if said is None or set(said[1]) <= set(verdict.evidence):
        return verdict
    words, evidence = said
    return msgspec.structs.replace(
        verdict,
        sentence=f"{verdict.sentence} {words}",
        evidence=list(dict.fromkeys([*verdict.evidence, *evidence])),
    )


def _same_counts(facts: Facts, culprits: tuple[int, ...]) -> tuple[str, tuple[str, ...]] | None:
    for count in launches(facts.case, facts.accounts, world_of(facts)):
        if set(count.of_rank) == set(culprits) and len(set(count.of_rank.values())) == 1:
            return f"NCCL's RAS says the same: it counts {count.words(culprits)}.", (count.evidence,)
    return None


def _not_answering(
    facts: Facts, verdict: Verdict, culprits: tuple[int, ...]
) -> tuple[str, tuple[str, ...]] | None:
    if CAUSES[verdict.cause].family not in _NOT_ANSWERING:
        return None
    missed = missed_by_ras(facts.case.events, ranks_of_processes(facts.case.exits))
    found = tuple(rank for rank in culprits if rank in missed)
    if not found:
        return None
    words = f"NCCL's RAS gets no answer of {ranks_words(found)} either, which {verb(found, 'fits', 'fit')}."
    return words, tuple(missed[rank][0] for rank in found[:4])
