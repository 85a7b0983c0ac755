"""A finding as it may be said: its claims checked against the tables, and what did not hold taken out of it.

What rests on a claim goes with it: a wait's row, a cohort's line; and if the claim is what the ranks are blamed for,
the confidence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rankandfile.model.claims import Base, Claim, ranks_of
from rankandfile.model.diagnosis import Cohort, Divergence
from rankandfile.model.ledger import Note
from rankandfile.model.sentence import Clause, Sentence, Words, checked, told

from .holds import unsaid, what_holds
from .of_divergence import of_cohort, of_named
from .raw import Raw
from .wait_row import WaitRow

if TYPE_CHECKING:
    from rankandfile.reason.verdict.finding import Finding


Kind = TypeVar("Kind", bound=Base)

NOT_SHOWN = "What was concluded of this wait does not hold against the records, and is not said."


class Said(Struct, frozen=True, kw_only=True):
    finding: Finding
    """Without what did not hold."""
    words: Words
    """Empty where nothing of it holds."""
    claims: tuple[Claim, ...]
    notes: tuple[Note, ...]


class Check:
    """Checks claim after claim, and keeps what held and what did not."""

    def __init__(self, raw: Raw) -> None:
        self.raw = raw
        self.claims: list[Claim] = []
        self.notes: list[Note] = []

    def __call__(self, claim: Kind) -> Kind | None:
        """What is left of the claim."""
        true = what_holds(self.raw, claim)
        if true != claim:
            self.notes += [note] if (note := unsaid(claim)) not in self.notes else []
        if true is not None and not any(_contains(known, true) for known in self.claims):
            self.claims.append(true)  # type: ignore[arg-type]
        return true


def _contains(known: Base, claim: Base) -> bool:
    """Whether the same was said already, of these ranks and perhaps of more."""
    if type(known) is not type(claim) or not set(ranks_of(claim)) <= set(ranks_of(known)):
        return False
    return msgspec.structs.replace(claim, ranks=known.ranks, evidence=known.evidence) == known


def may_be_said(raw: Raw, finding: Finding) -> Said:
    check = Check(raw)
    rows = [row for one in finding.waits if (row := _row(check, one)) is not None]
    divergence = _divergence(check, finding.divergence) if finding.divergence else None
    blamed: list[Claim] = [*finding.claims]
    if finding.divergence is not None:
        blamed += of_named(finding.divergence, finding.culprits, finding.cause)
    held = [check(claim) for claim in blamed]
    # What somebody did is not said where some of it does not hold.
    doubted = {
        rank
        for claim, true in zip(blamed, held, strict=True)
        if true != claim
        for rank in set(ranks_of(claim)) - set(ranks_of(true) if true else ())
    }
    said = replace(
        finding,
        waits=tuple(rows),
        divergence=divergence,
        doing={rank: words for rank, words in finding.doing.items() if rank not in doubted},
        confidence=finding.confidence if held == blamed else "hypothesis",
    )
    words = checked(finding.sentence if held == blamed else _clauses(finding), check)
    return Said(finding=said, words=words, claims=tuple(check.claims), notes=tuple(check.notes))


def _clauses(finding: Finding) -> Sentence:
    """Of a sentence whose point does not hold, the clauses that are checked each for itself."""
    return tuple(part for part in told(finding.sentence) if isinstance(part, Clause))


def _row(check: Check, row: WaitRow) -> WaitRow | None:
    here = check(row.here)
    if here is None:
        return None
    return replace(row, here=here, awaited=check(row.awaited) if row.awaited else None)


def _divergence(check: Check, divergence: Divergence) -> Divergence | None:
    """With the cohorts that hold; None where fewer than two do, for then it shows no divergence."""
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
