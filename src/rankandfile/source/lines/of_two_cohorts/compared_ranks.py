"""Who is held against whom: of the cohorts, of those who wait, of those who were seen, or a rank against itself."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from rankandfile.model.causes import CAUSES
from rankandfile.model.diagnosis import Cohort, Verdict
from rankandfile.model.ranks import format_ranks
from rankandfile.source.lines.call_paths import CallPath, CallPaths
from rankandfile.source.lines.divergence import MOST_WITNESSES, CodeDivergence, compare, ranks_of

from .same_round import same_round

_TRANSFERS = {"send", "recv", "coalesced"}
_MOST_SEEN = 1024


def divergences(paths: CallPaths, verdict: Verdict) -> Iterator[CodeDivergence]:
    """Where the evidence shows two call paths, the best founded first."""
    culprits = [culprit.rank for culprit in verdict.named]
    cohorts = verdict.divergence.cohorts if verdict.divergence else []
    guilty = [cohort for cohort in cohorts if set(culprits) & set(ranks_of(cohort.ranks))]
    normal = [cohort for cohort in cohorts if cohort not in guilty]
    if normal:
        guilty = [_of_culprits(paths, cohort, culprits) for cohort in guilty]
    found = [*_told(paths, normal, guilty, cohorts)]
    if guilty and not found:
        witnesses = [Cohort(ranks=str(rank)) for rank in _witnesses(verdict, culprits)]
        found = list(_pairs(paths, witnesses, guilty, True))
    if not cohorts:
        found = list(_awaited(paths, verdict)) or list(_looked_at(paths))
        found = found or list(same_round(paths, verdict)) or list(_seen_to_diverge(paths, verdict))
    left_out = verdict.cause == "skipped_collective" and bool(verdict.culprits)
    for divergence in sorted(found, key=lambda one: not (one.before and one.exact)):
        yield replace(divergence, left_out=left_out and divergence.culprit.seen)


def _of_culprits(paths: CallPaths, cohort: Cohort, culprits: list[int]) -> Cohort:
    """What a cohort did is told by one of its ranks: by a culprit, where others are in it too."""
    ranks = [rank for rank in ranks_of(cohort.ranks) if rank in culprits]
    told = paths.cited(cohort.call.evidence) if cohort.call is not None else None
    if cohort.call is None or told is None or told[0] in ranks:
        return cohort
    made = paths.calls(told[0])[told[1]]
    for own in paths.calls(ranks[0]):
        if (own.group, own.seq, own.op) == (made.group, made.seq, made.op) and own.seq is not None:
            call = msgspec.structs.replace(cohort.call, evidence=[own.evidence])
            return Cohort(ranks=format_ranks(ranks), call=call)
    return cohort


def _told(
    paths: CallPaths, normal: list[Cohort], guilty: list[Cohort], cohorts: list[Cohort]
) -> Iterator[CodeDivergence]:
    if guilty and normal:
        yield from _pairs(paths, normal, guilty, True)
    elif guilty:
        # A circle: everyone in it is a culprit, and any two of them show where the paths diverge.
        yield from _pairs(paths, guilty[:1], guilty[1:], False)
    else:
        yield from _pairs(paths, cohorts[:1], cohorts[1:], False)


def _pairs(
    paths: CallPaths, normal: list[Cohort], guilty: list[Cohort], settled: bool
) -> Iterator[CodeDivergence]:
    for other in guilty[:MOST_WITNESSES]:
        for one in normal[:MOST_WITNESSES]:
            found = compare(paths, one, other, settled)
            if found is not None and _comparable(paths, found):
                yield found
                recorded = any(made.path for made in paths.calls(found.normal.rank)[:-1])
                if not recorded and found.normal.path and not found.before:
                    # Nothing was recorded: in a round before, whoever went another way was where the others are.
                    yield replace(found, before=found.normal.path, exact=True)


def _comparable(paths: CallPaths, found: CodeDivergence) -> bool:
    """Stages of a pipeline send and receive from different places: only those that do so alike can be compared."""
    sides = (found.normal, found.culprit)
    if not any(side.call is not None and side.call.op in _TRANSFERS for side in sides):
        return True
    one, other = ({made.path for made in paths.calls(side.rank) if made.op in _TRANSFERS} for side in sides)
    return not one or not other or one == other


def _awaited(paths: CallPaths, verdict: Verdict) -> Iterator[CodeDivergence]:
    """Those who wait, against those for whom they wait."""
    for wait in verdict.waits[:MOST_WITNESSES]:
        for one in ranks_of(wait.ranks)[:2]:
            for other in ranks_of(wait.waits_for)[:2]:
                if one != other:
                    found = compare(paths, Cohort(ranks=str(one)), Cohort(ranks=str(other)), True)
                    if found is not None and _late(paths, found):
                        yield found


def _looked_at(paths: CallPaths) -> Iterator[CodeDivergence]:
    """Nobody's call shows it: those who were seen in different places, after like calls."""
    seen: dict[CallPath, list[int]] = {}
    for rank in paths.seen()[:_MOST_SEEN]:
        seen.setdefault(paths.now(rank), []).append(rank)
    cohorts = [Cohort(ranks=format_ranks(ranks)) for path, ranks in seen.items() if path]
    for number, one in enumerate(cohorts[:MOST_WITNESSES]):
        for other in cohorts[number + 1 : MOST_WITNESSES]:
            found = compare(paths, one, other, False)
            if found is not None and _late(paths, found):
                yield found


def _seen_to_diverge(paths: CallPaths, verdict: Verdict) -> Iterator[CodeDivergence]:
    """Whoever is named for the way it went, against the others: by where they were seen, as nobody's call tells it."""
    culprits = {culprit.rank for culprit in verdict.culprits}
    if not culprits or CAUSES[verdict.cause].family != "paths":
        return
    seen: dict[tuple[bool, CallPath], list[int]] = {}
    for rank in paths.seen()[:_MOST_SEEN]:
        seen.setdefault((rank in culprits, paths.now(rank)), []).append(rank)
    guilty = [Cohort(ranks=format_ranks(ranks)) for (odd, path), ranks in seen.items() if path and odd]
    normal = sorted((ranks for (odd, path), ranks in seen.items() if path and not odd), key=lambda r: -len(r))
    if not normal:
        # Of a circle that all are in, any two show where the paths diverge.
        yield from _pairs(paths, guilty[:1], guilty[1:], False)
    yield from _pairs(paths, [Cohort(ranks=format_ranks(ranks)) for ranks in normal], guilty, True)


def _late(paths: CallPaths, found: CodeDivergence) -> bool:
    """Both went their own paths only now. Ranks with different roles did so from the start, and that is no fault."""
    last = [
        side.call is None or side.call is paths.calls(side.rank)[-1] for side in (found.normal, found.culprit)
    ]
    return bool(found.before) and found.exact and all(last)


def _witnesses(verdict: Verdict, culprits: list[int]) -> list[int]:
    """Ranks that wait for the culprits, the direct ones first."""
    found: list[int] = []
    for wait in verdict.waits:
        if set(ranks_of(wait.waits_for)) & set(culprits):
            found += ranks_of(wait.ranks)
    found += ranks_of(verdict.victims)
    return [rank for rank in dict.fromkeys(found) if rank not in culprits][:MOST_WITNESSES]
