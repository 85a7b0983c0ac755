"""All that live set up the job's communication once more, after they had used it: nothing tells who is to be there.

The first setup is of all ranks that were started. A later one is of those that each rank counts itself: a program that
goes on with fewer workers, or makes its groups anew for each phase. Whoever has ended well by then may have left it
short of a member, or may have been counted out as it should; and ranks that count differently wait for ever, though
each of them is there.
"""

from __future__ import annotations

from rankandfile.model.heuristics import heuristic
from rankandfile.reason import lookup
from rankandfile.reason.document import cited, perhaps
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, upper, verb

from .in_words import place_words
from .make_finding import make_finding
from .where_all_stand import WhereAllStand

SETUP = "init_process_group"


@heuristic("set up anew", "who is to be in a setup after the first one, each rank has counted itself")
def set_up_anew(of: WhereAllStand) -> Finding | None:
    stands, ends = of.stands, of.facts.accounts.ends
    if of.unseen or of.moving or len(stands) < 2 or any(stand.op != SETUP for stand in stands.values()):
        return None
    if any(ends[rank].kind != "finished" for rank in of.gone):
        return None
    before = [row for rank in stands if (row := lookup.last_call(of.facts, rank)) is not None]
    of_all = of.facts.code.sets_up_all
    if not before or all((s.location.file, s.location.line) in of_all for s in stands.values()):
        return None
    left = of.gone
    ended = (
        f". {upper(ranks_words(left))} {verb(left, 'has', 'have')} ended with code 0 before it: whether "
        f"{verb(left, 'it was', 'they were')} to be there, nothing recorded tells"
        if left
        else ", and all are here"
    )
    return make_finding(
        of,
        cause="init_stuck",
        confidence="hypothesis",
        what=(
            f"{upper('; '.join(place_words(cohort) for cohort in of.cohorts))}, and had used a group before: they set "
            f"up the job's communication anew{ended}. If it does not end, they do not agree on who belongs to it"
        ),
        culprits=(),
        doing={},
        evidence=[
            *cited(before[0]),
            *(i for stand in stands.values() for i in stand.evidence[:1]),
            *(i for rank in left for i in ends[rank].evidence),
        ],
        place=of.cohorts[0].stand.location if len(of.cohorts) == 1 else None,
        alternatives=(
            perhaps(
                "early_exit",
                f"{upper(ranks_words(left))} may have left too early.",
                left,
                decided_by="the world size and the name that each rank gives to the setup",
            ),
        )
        if left
        else (),
    )
