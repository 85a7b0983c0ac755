"""A divergence as claims: what each cohort made there, and what sets those apart that the verdict names."""

from __future__ import annotations

from typing import Any, Literal

from rankandfile.model.claims import (
    Claim,
    Differs,
    ExtraCall,
    Issued,
    LeftOut,
    NeverIssued,
    OtherCall,
    Value,
)
from rankandfile.model.diagnosis import Call, Cohort, Divergence
from rankandfile.model.ranks import format_ranks, parse_ranks

_WHAT: dict[str, Literal["size", "dtype", "root"]] = {
    "size_mismatch": "size",
    "dtype_mismatch": "dtype",
    "root_mismatch": "root",
}


def of_cohort(divergence: Divergence, cohort: Cohort) -> Issued | NeverIssued | None:
    """What the line of a cohort says; None where it says no more than that nothing is known of it there."""
    if cohort.call is not None:
        return Issued(ranks=cohort.ranks, **_call(divergence, cohort.call))
    first = next((other.call for other in divergence.cohorts if other.call is not None), None)
    if cohort.unknown or divergence.kind != "absent" or divergence.seq is None or first is None:
        return None
    return NeverIssued(ranks=cohort.ranks, **{**_call(divergence, first), "file": None, "line": None})


def of_named(divergence: Divergence, culprits: tuple[int, ...], cause: str) -> list[Claim]:
    """What the ranks to blame did there, by the kind of the divergence."""
    named = set(culprits)
    its = next((c for c in divergence.cohorts if named and named & set(parse_ranks(c.ranks))), None)
    other = next((c for c in divergence.cohorts if c is not its and c.call is not None), None)
    ranks = format_ranks(named)
    if its is None:
        return []
    calls = [c.call for c in (its, other) if c is not None and c.call is not None]
    if any(call.seq is None or call.group not in (None, divergence.group) for call in calls):
        # Neither transfers nor numbers of two groups have an order that could be counted.
        return []
    if divergence.kind == "skipped" and divergence.exact and other is not None and other.call is not None:
        return [LeftOut(ranks=ranks, **_call(divergence, other.call))]
    if divergence.kind == "extra" and divergence.exact and its.call is not None:
        return [ExtraCall(ranks=ranks, **_call(divergence, its.call))]
    if divergence.kind == "substituted" and its.call is not None and cause not in _WHAT:
        return [OtherCall(ranks=ranks, **_call(divergence, its.call))]
    sides = [c for c in divergence.cohorts if c.call is not None and c.call.detail]
    if divergence.kind == "argument" and cause in _WHAT and len(sides) > 1 and its.call is not None:
        values = [Value(ranks=c.ranks, value=c.call.detail or "") for c in sides if c.call is not None]
        return [Differs(ranks=ranks, what=_WHAT[cause], values=values, **_call(divergence, its.call))]
    return []


def _call(divergence: Divergence, call: Call) -> dict[str, Any]:
    return {
        "group": call.group or divergence.group,
        "seq": call.seq,
        "op": call.op,
        "file": call.file,
        "line": call.line,
        "evidence": list(call.evidence),
    }
