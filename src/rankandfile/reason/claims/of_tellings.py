"""What is known of one rank beside its calls, as claims: how it ended, what it logged, where it stands."""

from __future__ import annotations

from collections.abc import Collection

from rankandfile.model.claims import Claim, Ended, Logged, StandsAt
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.from_logs.accounts import End, Error
from rankandfile.reason.ranks.host import Stand


def told_of(facts: Facts, rank: int, evidence: Collection[str]) -> list[Claim]:
    """The claims that words about the rank rest on, if they cite this evidence."""
    accounts, cited = facts.accounts, set(evidence)
    stand, end = facts.hosts.get(rank), accounts.ends.get(rank)
    found: list[Claim] = []
    if end is not None and end.how and cited & set(end.evidence):
        found.append(ended(rank, end))
    if stand is not None and cited & set(stand.evidence):
        found.append(stands(stand))
    kinds = (accounts.raised, accounts.device, accounts.link, accounts.stopped)
    errors = [of_kind[rank] for of_kind in kinds if rank in of_kind]
    return [*found, *(logged(rank, error) for error in errors if cited & set(error.evidence))]


def ended(rank: int, end: End) -> Ended:
    return Ended(ranks=str(rank), how=end.how, evidence=list(end.evidence[:2]))


def stands(stand: Stand) -> StandsAt:
    at = stand.location
    return StandsAt(
        ranks=str(stand.rank),
        file=at.file,
        line=at.line,
        function=at.function,
        moving=stand.moving,
        evidence=list(stand.evidence[:2]),
    )


def logged(rank: int, error: Error) -> Logged:
    return Logged(ranks=str(rank), what=(error.line or error.words)[:160], evidence=list(error.evidence[:4]))
