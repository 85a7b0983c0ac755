"""The checks of all kinds of claims in one table, and what is left of a claim that holds for some of its ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from rankandfile.model import claims
from rankandfile.model.ledger import NOT_SAID, Note
from rankandfile.model.ranks import format_ranks

from . import of_calls, of_paths, of_ranks
from .raw import Raw

#: Kind of claim -> those of its ranks for which the tables show it.
CHECKS: dict[type[claims.Base], Callable[[Raw, Any], set[int]]] = {
    claims.InCall: of_calls.in_call,
    claims.Issued: of_calls.issued,
    claims.Joined: of_calls.joined,
    claims.NeverIssued: of_calls.never_issued,
    claims.Unseen: of_calls.unseen,
    claims.LeftOut: of_paths.left_out,
    claims.ExtraCall: of_paths.extra_call,
    claims.OtherCall: of_paths.other_call,
    claims.Differs: of_paths.differs,
    claims.StandsAt: of_ranks.stands_at,
    claims.TookBranch: of_ranks.took_branch,
    claims.Ended: of_ranks.ended,
    claims.Logged: of_ranks.logged,
}

Kind = TypeVar("Kind", bound=claims.Base)


def unsaid(claim: claims.Base) -> Note:
    """That it is not said."""
    return Note(file="claim", where=NOT_SAID, what=f"{claim}: the tables do not show it")


def holds(raw: Raw, claim: claims.Base) -> bool:
    """Whether the tables show it of every rank that it names."""
    ranks = set(claims.ranks_of(claim))
    return bool(ranks) and _shown(raw, claim) >= ranks


def _shown(raw: Raw, claim: claims.Base) -> set[int]:
    """Those of its ranks for which the tables show it; each claim is looked up once."""
    key = repr(claim)
    if key not in raw.checked:
        raw.checked[key] = CHECKS[type(claim)](raw, claim)
    return raw.checked[key]


def what_holds(raw: Raw, claim: Kind) -> Kind | None:
    """The claim of those ranks for which it holds; None if it holds for none."""
    ranks = set(claims.ranks_of(claim))
    true = _shown(raw, claim) & ranks
    if true == ranks:
        return claim if ranks else None
    return msgspec.structs.replace(claim, ranks=format_ranks(true)) if true else None
