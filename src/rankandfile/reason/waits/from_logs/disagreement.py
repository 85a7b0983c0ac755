"""Watchdogs that gave up on one call, and say that their ranks asked for different things in it."""

from __future__ import annotations

from rankandfile.model.diagnosis import Cohort, Divergence
from rankandfile.model.ranks import format_ranks
from rankandfile.model.sentence import told
from rankandfile.reason.calls.requests import (
    Request,
    as_call,
    asked,
    majority,
    most_of_all,
    of_report,
    one_call,
    relation,
)
from rankandfile.reason.ranks.did_instead import location_of
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.words import ranks_words, upper

from .in_words import wait_list
from .settings import SETTINGS
from .waits import LoggedWaits


def disagreement(
    logged: LoggedWaits, wait_end: WaitEnd, call: Pending, parts: list[list[Request]]
) -> Finding:
    """`parts`: the requests of the call, those that asked for the same thing together, the usual ones first."""
    others = [claim for side in parts[1:] for claim in side]
    known = majority(parts) or _told_apart(logged, call, parts)
    said = "; ".join(f"{ranks_words([c.rank for c in side])}: {asked(side[0])}" for side in parts)
    unsaid = "" if known else " Who of them is out of line, the logs alone do not say."
    unheard = [Cohort(ranks=format_ranks(wait_end.ranks), unknown=True)] if wait_end.ranks else []
    # Those that are fewer are suspected, and no more: a bare majority is no proof of its own.
    culprits = tuple(claim.rank for claim in others) if known or len(parts[0]) > len(others) else ()
    # That they made different calls is sure, whoever of them was wrong.
    untold = "different_collective" if len({side[0].asked[0] for side in parts}) > 1 else "undetermined"
    return Finding(
        cause=_cause(logged, call, parts[0][0], others) if known else untold,
        confidence="supported" if known else "hypothesis",
        sentence=told(
            f"{upper(ranks_words(call.waiting))} wait at one number of group {logged.groups[call.group].words}"
            f"{'' if call.slot is None else f', seq {call.slot}'}, and asked for different things: {said}.{unsaid}"
        ),
        culprits=culprits,
        doing={claim.rank: f"is in {asked(claim)} instead" for claim in others if culprits},
        victims=tuple(sorted({*call.waiting} - set(culprits))),
        location=location_of(others[0].place) if culprits else None,
        divergence=Divergence(
            group=logged.groups[call.group].words,
            seq=call.slot,
            kind="substituted",
            cohorts=[
                Cohort(ranks=format_ranks(c.rank for c in side), call=as_call(side[0], call.slot))
                for side in parts
            ]
            + unheard,
            exact=False,
        ),
        waits=wait_list(logged, wait_end),
        evidence=tuple(report.evidence for report in logged.of_call(call)[:4]),
        missing=SETTINGS,
        unadvised=("probes",),
    )


def _told_apart(logged: LoggedWaits, call: Pending, parts: list[list[Request]]) -> bool:
    """All members are there, and more than half of them made one call at one line, and the others none like it."""
    group, most, others = logged.groups[call.group], parts[0], [c for side in parts[1:] for c in side]
    whole = (group.whole or group.told or group.even) and {*call.waiting} >= {*group.members}
    if not whole or len(most) <= len(others) or not one_call(most):
        return False
    unlike = all(claim.asked[0] != most[0].asked[0] for claim in others)
    return unlike or {claim.site for claim in others} == {most[0].site} or most_of_all(parts, group.members)


def _cause(logged: LoggedWaits, call: Pending, usual: Request, others: list[Request]) -> str:
    """By what the usual ranks asked for later: what the others ask for already now, or never."""
    odd = {other.rank for other in others}
    reports = [r for key in sorted(logged.reports) if key[0] == call.group for r in logged.reports[key]]
    later = [claim for r in reports if (claim := of_report(r)) and claim.rank not in odd]
    if relation(later, usual, others[0]) == "skipped":
        return "skipped_collective"
    # At another line it is another call, whatever it is called.
    elsewhere = None not in (usual.site, others[0].site) and usual.site != others[0].site
    return "different_collective" if elsewhere or usual.asked[0] != others[0].asked[0] else "size_mismatch"
