"""A finding as it may be said: its claims checked against the tables, and what did not hold taken out of it.

What rests on a claim goes with it: a wait's row, a cohort's line; and if the claim is what the ranks are blamed for,
the confidence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import msgspec

from rankandfile.model.claims import Base, Claim
from rankandfile.model.diagnosis import Cohort, Divergence
from rankandfile.model.ledger import NOT_SAID, Note

from .holds import what_holds
from .of_divergence import of_cohort, of_named
from .raw import Raw
from .wait_row import WaitRow

if TYPE_CHECKING:
    from rankandfile.reason.verdict.finding import Finding


Kind = TypeVar("Kind", bound=Base)


@dataclass(frozen=True, kw_only=True)
class Said:
    finding: Finding
    """Without what did not hold."""
    claims: tuple[Claim, ...]
    notes: tuple[Note, ...]


class _Check:
    """Checks claim after claim, and keeps what held and what did not."""

    def __init__(self, raw: Raw) -> None:
        self.raw = raw
        self.claims: list[Claim] = []
        self.notes: list[Note] = []

    def __call__(self, claim: Kind) -> Kind | None:
        """What is left of the claim."""
        true = what_holds(self.raw, claim)
        if true != claim:
            self.notes.append(Note(file="claim", where=NOT_SAID, what=f"{claim}: the tables do not show it"))
        if true is not None and true not in self.claims:
            self.claims.append(true)  # type: ignore[arg-type]
        return true


def may_be_said(raw: Raw, finding: Finding) -> Said:
    check = _Check(raw)
    rows = [row for one in finding.waits if (row := _row(check, one)) is not None]
    divergence = _divergence(check, finding.divergence) if finding.divergence else None
    blamed: list[Claim] = [*finding.claims]
    if finding.divergence is not None:
        blamed += of_named(finding.divergence, finding.culprits, finding.cause)
    proved = [check(claim) for claim in blamed] == blamed
    said = replace(
        finding,
        waits=tuple(rows),
        divergence=divergence,
        confidence=finding.confidence if proved else "hypothesis",
    )
    return Said(finding=said, claims=tuple(check.claims), notes=tuple(check.notes))


def _row(check: _Check, row: WaitRow) -> WaitRow | None:
    here = check(row.here)
    if here is None:
        return None
    return replace(row, here=here, awaited=check(row.awaited) if row.awaited else None)


def _divergence(check: _Check, divergence: Divergence) -> Divergence | None:
    """With the cohorts that hold; None where fewer than two do, for then it shows no parting."""
    cohorts: list[Cohort] = []
    for cohort in divergence.cohorts:
        claim = of_cohort(divergence, cohort)
        true = check(claim) if claim else None
        if claim is None or (true is None and cohort.call is None):
            # That it was not there needs a proof; without one it is not known where it was.
            cohorts.append(msgspec.structs.replace(cohort, unknown=cohort.unknown or claim is not None))
        elif true is not None:
            cohorts.append(msgspec.structs.replace(cohort, ranks=true.ranks))
    if len(cohorts) < min(2, len(divergence.cohorts)):
        return None
    return msgspec.structs.replace(divergence, cohorts=cohorts)
