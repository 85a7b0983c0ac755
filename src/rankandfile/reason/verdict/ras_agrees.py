"""What NCCL's RAS says of the ranks that a finding names: where it says the same, its answer is evidence for it.

That RAS finds nothing proves nothing. Where it says otherwise than the dumps, that is a contradiction, and shown.
"""

from __future__ import annotations

from rankandfile.model.causes import CAUSES
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.did_instead import world_of
from rankandfile.reason.ranks.from_logs.devices_and_processes import ranks_of_processes
from rankandfile.reason.ranks.from_logs.ras_counts import launches, missed_by_ras
from rankandfile.reason.words import ranks_words

from .finding import Finding

_NOT_ANSWERING = ("host", "process", "fabric", "start_and_end")
"""Families whose culprits may not answer: a process that only waits for others does."""


def said_by_ras(facts: Facts, finding: Finding) -> tuple[str, tuple[str, ...]]:
    """A sentence and its evidence; both empty where RAS adds nothing."""
    if not finding.hang or not finding.culprits:
        return "", ()
    said = _same_counts(facts, finding.culprits) or _not_answering(facts, finding)
    if said is None or set(said[1]) <= set(finding.evidence):
        return "", ()
    return said


def _same_counts(facts: Facts, culprits: tuple[int, ...]) -> tuple[str, tuple[str, ...]] | None:
    for count in launches(facts.case, facts.accounts, world_of(facts)):
        if set(count.of_rank) == set(culprits) and len(set(count.of_rank.values())) == 1:
            return f"NCCL's RAS says the same: it counts {count.words(culprits)}.", (count.evidence,)
    return None


def _not_answering(facts: Facts, finding: Finding) -> tuple[str, tuple[str, ...]] | None:
    if CAUSES[finding.cause].family not in _NOT_ANSWERING:
        return None
    missed = missed_by_ras(facts.case.events, ranks_of_processes(facts.case.exits))
    found = tuple(rank for rank in finding.culprits if rank in missed)
    if not found:
        return None
    words = f"NCCL's RAS gets no answer from {ranks_words(found)} either."
    return words, tuple(missed[rank][0] for rank in found[:4])
