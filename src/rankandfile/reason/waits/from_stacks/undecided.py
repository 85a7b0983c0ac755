"""Where each rank stands, where the stacks name nobody: no less than that, and the one thing to do next."""

from __future__ import annotations

from rankandfile.model.diagnosis import Missing
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, upper, verb

from .called import divergence_of
from .in_words import MOST_PLACES, place_words
from .kinds import kind_of, known, rooted
from .make_finding import make_finding, next_step
from .places import StackDivergence, stack_divergence
from .where_all_stand import WhereAllStand


def undecided(of: WhereAllStand) -> Finding | None:
    """Nobody can be named: where each stands, the odd ones first, and the one thing to do next."""
    if not of.stands:
        return None
    divergence = stack_divergence(of.cohorts)
    moving = of.moving
    shown = sorted(of.cohorts, key=lambda cohort: (len(cohort.ranks), cohort.ranks))
    moved = set(moving) == set(of.stands) and not of.stays and not of.unseen and of.at_work_at_last
    if moved:
        looks = min(stand.snapshots for stand in of.stands.values())
        told = (
            f"Each of them was somewhere else in another of {looks} snapshots, and not all wait in the last: the job "
            "went on between them, and no rank waits for one that stands still"
        )
    elif moving and not of.stays:
        told = _of_moving(of, moving)
    elif not of.waiting:
        told = (
            "None of them is seen to wait for another, and none is seen at work: a call into C leaves no frame, and "
            "any of these lines may wait"
        )
    elif divergence is None:
        told = "All that were seen stand in one place, so the stacks accuse nobody"
    else:
        told = "Who is out of line the stacks alone do not tell"
    places = upper("; ".join(place_words(cohort) for cohort in shown[:MOST_PLACES]))
    unseen = of.unseen
    also = f" {upper(ranks_words(unseen))} left no stack." if unseen else ""
    return make_finding(
        of,
        cause="no_hang" if moved else _open_cause(of, divergence),
        confidence="hypothesis",
        what=f"{places}. {told}" if places else told,
        also=also,
        culprits=(),
        doing={},
        hang=bool(of.waiting or of.stays) and not (moving and not of.stays),
        evidence=[i for cohort in shown[:MOST_PLACES] for i in cohort.stand.evidence[:1]],
        divergence=divergence_of(of, tuple(of.cohorts))
        if divergence and of.waiting and not of.transfers
        else None,
        missing=(Missing(what="whether it still does", how="another look"),) if moved else (next_step(of),),
    )


def _of_moving(of: WhereAllStand, moving: tuple[int, ...]) -> str:
    """Seen in other places, they move; seen running in one place, they may as well spin there."""
    if moved := [rank for rank in moving if of.stands[rank].moving]:
        return f"{upper(ranks_words(moved))} {verb(moved, 'moves', 'move')}: a job at work looks like this"
    return (
        f"{upper(ranks_words(moving))} {verb(moving, 'was', 'were')} seen running there: at work, or in a wait that "
        "spins, as those for a device and those of MPI do"
    )


def _open_cause(of: WhereAllStand, divergence: StackDivergence | None) -> str:
    """Ranks of one group in calls of two kinds went two ways, whoever of them was to go which."""
    if divergence is None or of.elsewhere or of.unseen or not (of.stays or of.alike) or not of.one_group:
        return "undetermined"
    kinds = {kind_of(cohort.stand) for cohort in (*divergence.odd, *divergence.usual)}
    known_kinds = all(known(cohort.stand) for cohort in (*divergence.odd, *divergence.usual))
    parts_ways = len(kinds) > 1 and known_kinds and not _each_at_its_number(of, divergence)
    return "different_collective" if parts_ways else "undetermined"


def _each_at_its_number(of: WhereAllStand, divergence: StackDivergence) -> bool:
    """By the watchdogs' numbers those in calls of one kind wait in one call, and the others in another; and what comes
    first is of one root: some are only further on than the rest, as it may be."""
    cohorts = (*divergence.odd, *divergence.usual)
    told = {(of.numbers.get(rank), kind_of(one.stand)) for one in cohorts for rank in one.ranks}
    numbers = [number for number, _ in told if number is not None]
    if len(numbers) != len(told) or len({*numbers}) != len(told) or len(told) == 1:
        return False
    first = min(numbers)
    return all(rooted(one.stand) for one in cohorts if of.numbers[one.ranks[0]] == first)
