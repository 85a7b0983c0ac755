"""What is found of each end of the waits: what its causes say of it, the best first, and what the facts add to that."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from rankandfile.model.diagnosis import ORDER_OF_CONFIDENCE, Alternative, Divergence
from rankandfile.model.sentence import in_words, told
from rankandfile.reason import lookup
from rankandfile.reason.causes import finders
from rankandfile.reason.divergence.divergence_point import place_of
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import MOST_WAIT_ENDS, Facts
from rankandfile.reason.finder import Finder
from rankandfile.reason.ranks.missing_dumps import absent_ranks, missing_dumps
from rankandfile.reason.waits.awaited_too import awaited_too, seen_to_wait
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.waits.in_words import first_pending, pending_row, wait_list
from rankandfile.reason.waits.like_groups import family_words
from rankandfile.reason.words import ranks_words, upper

from .finding import Finding


def calls_that_wait(facts: Facts) -> list[Finding]:
    """The best finding of each end of the waits; where two ends lead to the same claim, it is one finding."""
    out: list[Finding] = []
    ends: list[WaitEnd] = []
    for wait_end in facts.wait_ends[:MOST_WAIT_ENDS]:
        found = of_wait_end(facts, wait_end)
        if not found:
            continue
        candidate = completed(facts, wait_end, *found)
        twin = next((i for i, other in enumerate(out) if _same(candidate, other)), None)
        like = next(
            (i for i, o in enumerate(out) if _alike(facts, (candidate, wait_end), (o, ends[i]))), None
        )
        if twin is None and like is not None:
            out[like] = _together(out[like], candidate)
        elif twin is None:
            out.append(candidate)
            ends.append(wait_end)
        elif in_words(candidate.sentence) == in_words(out[twin].sentence):
            # Two sides of one transfer wait for each other, and are two ends of what is said once.
            victims = {*out[twin].victims, *candidate.victims}
            out[twin] = replace(out[twin], victims=tuple(sorted(victims)))
    return out


def of_wait_end(facts: Facts, wait_end: WaitEnd) -> list[Finding]:
    """What the causes say of it, best first: surest, a named cause before an open one, most explained."""
    found = _asked(finders(), facts, wait_end) or _asked(finders("open wait"), facts, wait_end)
    contained = {finding.instead_of for finding in found}
    found = [finding for finding in found if finding.cause not in contained]
    return sorted(
        found, key=lambda f: (f.cause == "undetermined", ORDER_OF_CONFIDENCE[f.confidence], -f.explains)
    )


def _asked(finders: tuple[Finder, ...], facts: Facts, wait_end: WaitEnd) -> list[Finding]:
    return [finding for find in finders if (finding := find(facts, wait_end)) is not None]


def of_whole_job(facts: Facts, finding: Finding) -> Finding:
    """A finding that no recorded call is about: all ranks that it does not name are victims."""
    others = tuple(sorted(set(range(facts.case.world_size or 0)) - set(finding.culprits)))
    victims = others if finding.cause != "teardown_only" else ()
    return completed(facts, WaitEnd(finding.culprits, (), "absent", victims), finding)


def completed(facts: Facts, wait_end: WaitEnd, best: Finding, *rest: Finding) -> Finding:
    """The best finding with its victims, waits and missing dumps, and with the next best among its alternatives."""
    awaited = {rank for rank in wait_end.ranks if seen_to_wait(facts, rank)}
    victims = sorted((set(wait_end.victims) | awaited) - set(best.culprits))
    too, theirs = awaited_too(facts, wait_end, best, rest)
    missing, ids = missing_dumps(facts, _awaited_unseen(facts, wait_end)) if best.hang else ([], [])
    return replace(
        best,
        sentence=told(best.sentence, too, family_words(facts, wait_end, best.divergence)),
        victims=tuple(victims) if best.hang else (),
        divergence=_placed(facts, wait_end, best.divergence),
        waits=tuple(wait_list(facts, wait_end)) if best.hang else (),
        evidence=(*best.evidence, *ids),
        alternatives=(*theirs, *best.alternatives, *_runner_up(best, rest)),
        # Why a dump is not here says more than that it is not.
        missing=(*missing, *(m for m in best.missing if not any(o.what.startswith(m.what) for o in missing))),
    )


def _runner_up(best: Finding, rest: tuple[Finding, ...]) -> list[Alternative]:
    known = {alternative.cause for alternative in best.alternatives} | {best.cause, "undetermined"}
    return [
        perhaps(other.cause, _as_possible(other), other.culprits, decided_by=other.contradicted_by)
        for other in rest[:1]
        if other.cause not in known
    ]


def _as_possible(other: Finding) -> str:
    """What was found, too, and is not what is believed: no fact any more."""
    words = in_words(other.sentence)
    return (
        f"It may be that {words if words[1:2].isupper() else words[:1].lower() + words[1:]}" if words else ""
    )


def _same(one: Finding, other: Finding) -> bool:
    """Two ends of waits that lead to the same claim about the same ranks are one finding."""
    alike = one.cause == other.cause and one.culprits == other.culprits
    return alike and (bool(one.culprits) or in_words(one.sentence) == in_words(other.sentence))


def _alike(facts: Facts, one: tuple[Finding, WaitEnd], other: tuple[Finding, WaitEnd]) -> bool:
    """Whether other ranks did the same at the same place, in another group of the kind: two pipelines, one fault."""
    (a, end), (b, before) = one, other
    call, first = first_pending(facts, end), first_pending(facts, before)
    if call is None or first is None or not (end.kind == before.kind == "absent"):
        return False
    if not a.culprits or set(a.culprits) & {*b.culprits, *b.victims}:
        return False
    ours, theirs = (set(facts.membership.members[group]) for group in (call.group, first.group))
    alike = len(ours) == len(theirs) and ours.isdisjoint(theirs) and call.slot == first.slot
    said = all(getattr(a, name) == getattr(b, name) for name in ("cause", "confidence", "location"))
    did = set(a.doing.values()) == set(b.doing.values()) and bool(a.doing)
    return alike and said and did and a.location is not None and a.divergence is not None


def _together(one: Finding, other: Finding) -> Finding:
    """One finding of both, in the words of the first."""
    group = other.divergence.group if other.divergence else None
    also = f"{upper(ranks_words(other.culprits))} did the same{f' in group {group}' if group else ''}."
    return replace(
        one,
        sentence=told(one.sentence, also),
        culprits=tuple(sorted({*one.culprits, *other.culprits})),
        victims=tuple(sorted({*one.victims, *other.victims} - {*one.culprits, *other.culprits})),
        doing=one.doing | other.doing,
        waits=(*one.waits, *other.waits),
        evidence=tuple(dict.fromkeys((*one.evidence, *other.evidence))),
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
    return msgspec.structs.replace(divergence, place=place_of(facts, row))


def _awaited_unseen(facts: Facts, wait_end: WaitEnd) -> list[int]:
    """Ranks without a whole dump that the wait ends in, or that its calls lack."""
    concerned = set(wait_end.ranks) | {r for i in wait_end.pending for r in facts.waits.pending[i].unknown}
    return sorted(concerned & set(absent_ranks(facts)))
