"""Whom the code names where two ranks disagree on how much goes between them, and one of them changed its number.

Which of the two is wrong, the calls do not tell: one changed what it was to keep, or the other kept what it was to
change. Where the number comes from what is made anew upon a test of each rank's own, and from nothing else of its own
but its place in the job, whoever made it anew has what all would have: the other one is out of date.
"""

from __future__ import annotations

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.findings import NamedByCode
from rankandfile.model.heuristics import Heuristic
from rankandfile.model.ranks import format_ranks
from rankandfile.source.lines.divergence import ranks_of
from rankandfile.source.lines.found_line import FoundLine

_STALE = Heuristic(
    "out of date",
    "of two that disagree on an amount, who did not make anew what it comes from is out of date",
)


def who_is_out_of_date(verdict: Verdict, found: FoundLine) -> NamedByCode | None:
    """None, unless the evidence leaves two open, and says which of them has another number than before."""
    open_ = {other.culprits for other in verdict.alternatives if other.cause == verdict.cause}
    cohorts = verdict.divergence.cohorts if verdict.divergence is not None else []
    changed = cohorts[-1].ranks if cohorts else ""
    kept = [ranks_of(ranks) for ranks in open_ if ranks != changed]
    if found.kind != "renewed" or changed not in open_ or len(kept) != 1 or len(kept[0]) != 1 or _STALE.off:
        return None
    return NamedByCode(
        ranks=tuple(kept[0]),
        doing=f"did not make anew what the amounts come from, at {found.at}",
        sentence="As far as the code shows, what is made anew there comes from what all have, and from the rank's "
        f"place in the job: rank {changed} made it anew, and what rank {format_ranks(kept[0])} has is out of date.",
    )
