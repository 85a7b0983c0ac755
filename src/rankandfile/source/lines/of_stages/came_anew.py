"""Of ranks that left a call out and have come there anew, where no record has frames: the way since their last call.

Between the lines at which they and the others stand, that last call is made, and nowhere else around: from there the
others went on to the call that they wait in, and these did not.
"""

from __future__ import annotations

from rankandfile.model.diagnosis import Cohort, Verdict
from rankandfile.source.lines.call_paths import first_unlike
from rankandfile.source.lines.divergence import CodeDivergence, Side, ranks_of
from rankandfile.source.lines.found_line import Search

from .calls_between import calls_between


def came_anew(search: Search, verdict: Verdict) -> CodeDivergence | None:
    cohorts = verdict.divergence.cohorts if verdict.divergence else []
    culprits = {one.rank for one in verdict.culprits}
    guilty = next((one for one in cohorts if culprits & {*ranks_of(one.ranks)}), None)
    normal = next((one for one in cohorts if one is not guilty and one.call is not None), None)
    if verdict.cause != "skipped_collective" or guilty is None or guilty.call is not None or normal is None:
        return None
    ours, theirs = _side(search, normal), _side(search, guilty)
    made = search.paths.calls(theirs.rank)
    depth = first_unlike(theirs.path, ours.path)
    if depth is None or not made or any(call.path for call in (*made, *search.paths.calls(ours.rank)[:-1])):
        return None
    here, there = theirs.path[depth], ours.path[depth]
    made_at = calls_between(search).get((here.file, here.line, there.line), {}).get(made[-1].op)
    if made_at is None:
        return None
    within = next(n for n, frame in enumerate(theirs.path) if n >= depth and frame[:2] == made_at[:2])
    before = (*theirs.path[:within], made_at)
    return CodeDivergence(before, ours, theirs, settled=True, left_out=True)


def _side(search: Search, cohort: Cohort) -> Side:
    ranks = ranks_of(cohort.ranks)
    rank = next((rank for rank in ranks if search.paths.now(rank)), ranks[0])
    return Side(cohort.ranks, rank, search.paths.now(rank), seen=True)
