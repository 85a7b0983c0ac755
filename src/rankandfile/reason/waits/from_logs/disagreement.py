"""Watchdogs that gave up on one call, and say that their ranks asked for different things in it."""

from __future__ import annotations

from rankandfile.model.causes import CAUSES
from rankandfile.model.diagnosis import Cohort, Culprit, Divergence, Verdict
from rankandfile.model.ranks import format_ranks
from rankandfile.reason.calls.requests import (
    Request,
    as_call,
    asked,
    majority,
    of_report,
    relation,
)
from rankandfile.reason.ranks.did_instead import location_of
from rankandfile.reason.waits.graph import Pending
from rankandfile.reason.words import ranks_words

from .in_words import waiting
from .waits import Logged


def disagreement(logged: Logged, call: Pending, parts: list[list[Request]], base: Verdict) -> Verdict:
    others = [claim for side in parts[1:] for claim in side]
    known = majority(parts)
    said = "; ".join(f"{ranks_words([c.rank for c in side])}: {asked(side[0])}" for side in parts)
    cause = "undetermined"
    if known:
        later = [claim for key in sorted(logged.reports) if key[0] == call.group for r in logged.reports[key]
                 if (claim := of_report(r)) and claim.rank not in {o.rank for o in others}]  # fmt: skip
        one_op = parts[0][0].asked[0] == others[0].asked[0]
        skipped = relation(later, parts[0][0], others[0]) == "skipped"
        cause = "skipped_collective" if skipped else "size_mismatch" if one_op else "different_collective"
    base.cause, base.family = cause, CAUSES[cause].family
    base.confidence = "supported" if known else "hypothesis"
    base.sentence = f"{waiting(logged, call)}, but asked for different things: {said}."
    if not known:
        base.sentence += " Who of them is out of line, the logs alone do not say."
    base.culprits = [
        Culprit(rank=claim.rank, doing=f"is in {asked(claim)} instead") for claim in others if known
    ]
    base.victims = format_ranks({*call.waiting} - {c.rank for c in base.culprits})
    base.location = location_of(others[0].place) if known else None
    base.divergence = Divergence(
        group=logged.groups[call.group].words,
        seq=call.slot,
        kind="substituted",
        cohorts=[
            Cohort(ranks=format_ranks(c.rank for c in side), call=as_call(side[0], call.slot))
            for side in parts
        ],
        exact=False,
    )
    base.alternatives = []
    base.remedies, base.anti_advice = list(CAUSES[cause].remedies), list(CAUSES[cause].anti_advice)
    return base
