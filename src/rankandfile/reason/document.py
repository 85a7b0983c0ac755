"""Parts of a finding as the document has them: divergences, cohorts, alternatives, evidence ids."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rankandfile.model.column import Row
from rankandfile.model.diagnosis import Alternative, Cohort, Divergence
from rankandfile.model.ranks import format_ranks

from . import lookup
from .facts import Facts
from .waits.graph import Pending


def perhaps(
    cause: str, sentence: str, ranks: Collection[int] = (), *, decided_by: str | None = None
) -> Alternative:
    """What it may be as well. `decided_by`: the evidence that would tell."""
    return Alternative(
        cause=cause,
        confidence="hypothesis",
        sentence=sentence,
        culprits=format_ranks(ranks),
        decided_by=decided_by,
    )


def cited(*rows: Row | None) -> tuple[str, ...]:
    """The evidence ids of the calls that are known."""
    return tuple(lookup.evidence_of(row) for row in rows if row)


def cohort(facts: Facts, ranks: Collection[int], row: Row | None = None, detail: str | None = None) -> Cohort:
    """Ranks, and their call if they made one. `detail`: what sets it apart where that is not its place."""
    call = lookup.as_call(facts, row, detail) if row else None
    if (
        call is not None
        and row is not None
        and set(ranks) - set(facts.membership.members.get(row["group"], ()))
    ):
        # Each made it in its own group of that kind.
        call.group = lookup.kind_of_group(facts, row["group"])
    return Cohort(ranks=format_ranks(ranks), call=call)


def diverged(
    facts: Facts,
    group: int,
    *,
    seq: int | None,
    kind: str,
    cohorts: list[Cohort],
    exact: bool = True,
    place: str | None = None,
) -> Divergence:
    """A divergence in the document's words, of a group that is given by its number."""
    return Divergence(
        group=lookup.group_words(facts, group),
        seq=seq,
        kind=kind,
        cohorts=cohorts,
        members=lookup.members_text(facts, group),
        exact=exact,
        place=place,
    )


def not_come(
    facts: Facts, call: Pending, row: Row | None, ranks: Collection[int], waiting: Sequence[int]
) -> Divergence:
    """Some wait in a call, and these have not come to it."""
    # Who ended in the call has come to it.
    there = [rank for rank in ranks if rank in call.waiting]
    others = [rank for rank in waiting if rank not in there]
    missing = [rank for rank in ranks if rank not in there and rank in call.lacking]
    untold = [rank for rank in ranks if rank not in there and rank not in call.lacking]
    cohorts = [cohort(facts, part, row) for part in (others, there) if part]
    cohorts += [cohort(facts, missing)] if missing else []
    # Of a process that is gone without its record, nobody can say what it had issued by then.
    cohorts += [Cohort(ranks=format_ranks(untold), unknown=True)] if untold else []
    return diverged(facts, call.group, seq=row["seq"] if row else call.slot, kind="absent", cohorts=cohorts)
