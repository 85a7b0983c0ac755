"""The waits that logs tell of, in words and in the document."""

from __future__ import annotations

from rankandfile.model.diagnosis import Wait
from rankandfile.model.ranks import format_ranks
from rankandfile.reason.calls.contracts import contract_of
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.words import ranks_words, upper, verb

from .waits import LoggedWaits

_MOST_WAITS = 8


def wait_list(logged: LoggedWaits, wait_end: WaitEnd) -> tuple[Wait, ...]:
    chosen = [logged.waits.pending[i] for i in wait_end.pending]
    calls = chosen + [call for call in logged.waits.pending if call not in chosen]
    return tuple(
        Wait(
            ranks=format_ranks(call.waiting),
            waits_for=format_ranks(call.lacking or call.busy or call.unknown),
            group=logged.groups[call.group].words,
            seq=call.slot,
            op=op(logged, call),
            evidence=[r.evidence for r in logged.of_call(call)[:1]],
        )
        for call in calls[:_MOST_WAITS]
    )


def op(logged: LoggedWaits, call: Pending) -> str | None:
    ops = [r.op for r in logged.of_call(call) if r.op]
    return contract_of(ops[0]).op if ops else None


def waiting(logged: LoggedWaits, call: Pending) -> str:
    return (
        f"{upper(ranks_words(call.waiting))} {verb(call.waiting, 'waits', 'wait')} in the "
        f"{op(logged, call) or 'call'} (group {logged.groups[call.group].words}"
        + (")" if call.slot is None else f", seq {call.slot})")
    )
