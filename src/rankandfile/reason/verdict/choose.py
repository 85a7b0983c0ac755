"""From findings to verdicts: one per root, the best finding first, the runner-up kept as an alternative."""

from __future__ import annotations

import msgspec

from rankandfile.model.causes import CAUSES
from rankandfile.model.diagnosis import Alternative, Culprit, Divergence, Verdict
from rankandfile.model.ranks import format_ranks
from rankandfile.reason import lookup
from rankandfile.reason.causes import finders
from rankandfile.reason.divergence.point import place_of
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import Finder
from rankandfile.reason.ranks.missing_dumps import absent_ranks, missing_dumps
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.waits.in_words import first_pending, pending_row, wait_list
from rankandfile.reason.waits.like_groups import family_words

from .finding import Finding

_SURE = {"established": 0, "supported": 1, "hypothesis": 2}


def findings(facts: Facts, wait_end: WaitEnd) -> list[Finding]:
    """What the causes have to say of the root, best first: surest, a named cause before an open one, most explained."""
    found = _asked(finders(), facts, wait_end) or _asked(finders("open wait"), facts, wait_end)
    contained = {finding.instead_of for finding in found}
    found = [finding for finding in found if finding.cause not in contained]
    return sorted(found, key=lambda f: (f.cause == "undetermined", _SURE[f.confidence], -f.explains))


def _asked(finders: tuple[Finder, ...], facts: Facts, wait_end: WaitEnd) -> list[Finding]:
    return [finding for find in finders if (finding := find(facts, wait_end)) is not None]


def verdict(facts: Facts, wait_end: WaitEnd, found: list[Finding]) -> Verdict:
    best, *rest = found
    cause = CAUSES[best.cause]
    victims = sorted((set(wait_end.victims) | set(wait_end.ranks)) - set(best.culprits)) if best.hang else []
    alternatives = list(best.alternatives)
    for other in rest[:1]:
        if other.cause not in {a.cause for a in alternatives} | {best.cause, "undetermined"}:
            alternatives.append(
                Alternative(
                    cause=other.cause,
                    confidence="hypothesis",
                    sentence=other.sentence,
                    culprits=format_ranks(other.culprits),
                    decided_by=other.contradicted_by,
                )
            )
    divergence = _placed(facts, wait_end, best.divergence)
    missing, ids = missing_dumps(facts, _awaited_unseen(facts, wait_end)) if best.hang else ([], [])
    return Verdict(
        hang=best.hang,
        cause=best.cause,
        family=cause.family,
        confidence=best.confidence,
        sentence=" ".join(filter(None, (best.sentence, family_words(facts, wait_end, best.divergence)))),
        culprits=[
            Culprit(rank=r, host=facts.accounts.hosts.get(r), doing=best.doing.get(r)) for r in best.culprits
        ],
        victims=format_ranks(victims),
        divergence=divergence,
        location=best.location,
        waits=wait_list(facts, wait_end) if best.hang else [],
        evidence=list(dict.fromkeys([*best.evidence, *ids])),
        alternatives=alternatives,
        remedies=list(cause.remedies),
        anti_advice=list(cause.anti_advice),
        probes=list(cause.probes),
        missing_evidence=[*missing, *best.missing],
    )


def _placed(facts: Facts, wait_end: WaitEnd, divergence: Divergence | None) -> Divergence | None:
    """With its place in the loop, where the cause only knows the call that some did not come to."""
    call = first_pending(facts, wait_end)
    if divergence is None or divergence.place or call is None or call.slot is None:
        return divergence
    row = pending_row(facts, call)
    if row is None or (divergence.seq, divergence.group) != (
        row["seq"],
        lookup.group_words(facts, call.group),
    ):
        return divergence
    return msgspec.structs.replace(divergence, place=place_of(facts, call.group, call.slot))


def _awaited_unseen(facts: Facts, wait_end: WaitEnd) -> list[int]:
    """Ranks without a whole dump that the root is about, or that its calls lack."""
    concerned = set(wait_end.ranks) | {r for i in wait_end.pending for r in facts.waits.pending[i].unknown}
    return sorted(concerned & set(absent_ranks(facts)))
