"""What the cohorts that stand in different places called, as far as stacks and the watchdogs' lines tell."""

from __future__ import annotations

from rankandfile.model.diagnosis import Call, Cohort, Divergence
from rankandfile.model.ranks import format_ranks
from rankandfile.reason.calls.contracts import contract_of

from .kinds import kind_of, known
from .places import Cohort as Standing
from .where_all_stand import WhereAllStand


def divergence_of(of: WhereAllStand, places: tuple[Standing, ...]) -> Divergence | None:
    """The places as cohorts of one call; None where it is known of fewer than two what they called."""
    cohorts = [
        Cohort(ranks=format_ranks(one.ranks), call=call, unknown=call is None)
        for one in places
        for call in (_call(of, one),)
    ]
    if sum(cohort.call is not None for cohort in cohorts) < min(2, len(cohorts)):
        return None
    ranks = format_ranks([*of.stands, *of.unseen])
    return Divergence(
        group=f"default_pg [{ranks}]" if of.one_group else "not told by stacks",
        # In which call they wait is told, and not which was the first that differed.
        seq=None,
        kind="substituted",
        cohorts=cohorts,
        exact=False,
    )


def _call(of: WhereAllStand, cohort: Standing) -> Call | None:
    """What it stands in; of a wait for a call that was made before, what its watchdog says that this line made."""
    stand = cohort.stand
    op = kind_of(stand) if known(stand) else _waited_for(of, cohort)
    if op is None:
        return None
    return Call(
        op=op,
        seq=_number(of, cohort),
        file=stand.location.file,
        line=stand.location.line,
        function=stand.location.function,
        evidence=list(stand.evidence[:1]),
    )


def _number(of: WhereAllStand, cohort: Standing) -> int | None:
    """That of the call which the watchdogs of all of them gave up on."""
    numbers = {of.numbers.get(rank) for rank in cohort.ranks}
    return numbers.pop() if len(numbers) == 1 else None


def _waited_for(of: WhereAllStand, cohort: Standing) -> str | None:
    here = (cohort.stand.location.file, cohort.stand.location.line)
    reports = [report for rank in cohort.ranks for report in of.facts.accounts.of_rank.get(rank, ())]
    made = {r.op for r in reports if r.op and r.site is not None and (r.site.file, r.site.line) == here}
    return contract_of(made.pop()).op if len(made) == 1 else None
