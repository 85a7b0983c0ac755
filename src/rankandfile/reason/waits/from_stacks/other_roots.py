"""Ranks on one line that name different roots of one collective, by the arguments in their stacks."""

from __future__ import annotations

from collections import defaultdict

from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, upper, verb

from .called import divergence_of
from .in_words import place_words
from .kinds import rooted
from .make_finding import make_finding
from .places import Cohort
from .where_all_stand import WhereAllStand


def other_roots(of: WhereAllStand) -> Finding | None:
    """The largest cohort of a call with a root, if its members name more than one."""
    for cohort in of.cohorts:
        named = _named(of, cohort)
        if len(named) > 1:
            return _finding(of, cohort, named)
    return None


def _named(of: WhereAllStand, cohort: Cohort) -> dict[tuple[str, int], list[int]]:
    found: dict[tuple[str, int], list[int]] = defaultdict(list)
    for rank in cohort.ranks:
        asked = of.stands[rank].asked
        if asked.root is not None and rooted(of.stands[rank]) and not of.transfers:
            found[asked.root].append(rank)
    return found if len({how for how, _ in found}) == 1 else {}


def _finding(of: WhereAllStand, cohort: Cohort, named: dict[tuple[str, int], list[int]]) -> Finding:
    most = max(named.values(), key=len)
    odd = tuple(sorted(rank for ranks in named.values() if ranks is not most for rank in ranks))
    few = odd if len(most) > max(1, len(odd)) else ()
    # Where others are elsewhere, these may be at turns of a loop in which each is root once.
    sure = bool(few) and bool(of.stays) and of.one_group and not of.unseen and len(of.cohorts) == 1
    sure = sure and not of.at_several_numbers
    told = "; ".join(
        f"{ranks_words(ranks)} {verb(ranks, 'takes', 'take')} {root} for the root"
        for (_, root), ranks in sorted(named.items())
    )
    rest = "".join(f" {upper(place_words(one))}." for one in of.cohorts if one is not cohort)
    return make_finding(
        of,
        cause="root_mismatch",
        confidence="supported" if sure else "hypothesis",
        what=f"{upper(place_words(cohort))}, and by the arguments in their stacks {told}",
        also=rest,
        culprits=few,
        doing=dict.fromkeys(few, "names another root than the other ranks"),
        evidence=[of.stands[rank].asked.evidence for ranks in named.values() for rank in ranks[:2]],
        divergence=divergence_of(of, tuple(of.cohorts)),
        place=cohort.stand.location,
    )
