"""The waits that logs tell of, in words and in the document."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from rankandfile.model.claims import InCall, Joined, NeverIssued, Unseen
from rankandfile.model.diagnosis import Call, Cohort, Divergence
from rankandfile.model.ranks import format_ranks
from rankandfile.reason.calls.contracts import contract_of
from rankandfile.reason.calls.requests import Request, as_call, of_report
from rankandfile.reason.claims.wait_row import WaitRow
from rankandfile.reason.ranks.from_logs.accounts import Report
from rankandfile.reason.waits.graph import Pending, WaitEnd

from .waits import LoggedWaits

_MOST_WAITS = 8


def wait_list(logged: LoggedWaits, wait_end: WaitEnd) -> tuple[WaitRow, ...]:
    # There may be a hundred thousand calls, and as many ends of waits that ask for their few.
    own = set(wait_end.pending)
    others = (index for index in range(len(logged.waits.pending)) if index not in own)
    calls = [logged.waits.pending[i] for i in islice(chain(wait_end.pending, others), _MOST_WAITS)]
    return tuple(row for call in calls for row in _rows(logged, call))[:_MOST_WAITS]


def _rows(logged: LoggedWaits, call: Pending) -> Iterator[WaitRow]:
    """One per operation that the ranks' own watchdogs name."""
    group = logged.groups[call.group].words
    # Whoever only counts its calls, as it was asked to dump, does not say that it waits in the last of them.
    told = [report for report in logged.of_call(call) if report.seq is not None or call.slot is None]
    kinds = ((NeverIssued, call.lacking), (Joined, call.busy), (Unseen, call.unknown))
    kind, others = next(((kind, ranks) for kind, ranks in kinds if ranks), (Unseen, ()))
    names = dict.fromkeys(_op_of(report) for report in told)
    if len(names) > 1 and kind is Unseen:
        # They wait for each other: which of their calls a rank that nobody heard of is in, if in any, is not told.
        others = ()
    for name in names:
        lines = [report for report in told if _op_of(report) == name]
        ids = [lines[0].evidence]
        yield WaitRow(
            here=InCall(
                ranks=format_ranks(r.rank for r in lines), group=group, seq=call.slot, op=name, evidence=ids
            ),
            awaited=kind(ranks=format_ranks(others), group=group, seq=call.slot, op=name, evidence=ids)
            if others
            else None,
        )


def _op_of(report: Report) -> str | None:
    return contract_of(report.op).op if report.op else None


def in_calls(logged: LoggedWaits, call: Pending) -> list[InCall]:
    """Who waits there, by what each rank's own watchdog says."""
    return [row.here for row in _rows(logged, call)]


def not_come(logged: LoggedWaits, wait_end: WaitEnd, call: Pending, claim: Request | None) -> Divergence:
    """Some are in the call, and the others are not."""
    group = logged.groups[call.group]
    return Divergence(
        group=group.words,
        members=group.listed,
        seq=call.slot,
        kind="absent",
        cohorts=[
            Cohort(ranks=format_ranks(call.waiting), call=as_call(claim, call.slot) if claim else None),
            Cohort(ranks=format_ranks(wait_end.ranks), unknown=wait_end.kind != "absent"),
        ],
        exact=False,
    )


def asked_in(logged: LoggedWaits, call: Pending) -> Call | None:
    """What the first of them asked for, whose watchdog tells it."""
    claim = next((claim for r in logged.of_call(call) if (claim := of_report(r))), None)
    return as_call(claim, call.slot) if claim else None
