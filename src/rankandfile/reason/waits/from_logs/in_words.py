"""The waits that logs tell of, in words and in the document."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.model.claims import InCall, Joined, NeverIssued, Unseen
from rankandfile.model.ranks import format_ranks
from rankandfile.reason.calls.contracts import contract_of
from rankandfile.reason.claims.wait_row import WaitRow
from rankandfile.reason.ranks.from_logs.accounts import Report
from rankandfile.reason.waits.graph import Pending, WaitEnd

from .waits import LoggedWaits

_MOST_WAITS = 8


def wait_list(logged: LoggedWaits, wait_end: WaitEnd) -> tuple[WaitRow, ...]:
    chosen = [logged.waits.pending[i] for i in wait_end.pending]
    calls = chosen + [call for call in logged.waits.pending if call not in chosen]
    return tuple(row for call in calls[:_MOST_WAITS] for row in _rows(logged, call))[:_MOST_WAITS]


def _rows(logged: LoggedWaits, call: Pending) -> Iterator[WaitRow]:
    """One per operation that the ranks' own watchdogs name."""
    group = logged.groups[call.group].words
    # Whoever only counts its calls, as it was asked to dump, does not say that it waits in the last of them.
    told = [report for report in logged.of_call(call) if report.seq is not None or call.slot is None]
    kinds = ((NeverIssued, call.lacking), (Joined, call.busy), (Unseen, call.unknown))
    kind, others = next(((kind, ranks) for kind, ranks in kinds if ranks), (Unseen, ()))
    names = list(dict.fromkeys(_op_of(report) for report in told))
    if len(names) > 1 and kind is Unseen:
        # Those that speak hold each other: whether they wait for the silent ones as well is not told.
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
