"""A circle of waits by the logs of its ranks, and who of them is out of line."""

from __future__ import annotations

from rankandfile.model.diagnosis import Cohort, Divergence
from rankandfile.model.ranks import format_ranks
from rankandfile.model.sentence import told
from rankandfile.reason.claims.in_words import circle as in_circle
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.words import ranks_words, upper, verb

from .in_words import asked_in, in_calls, wait_list
from .open_causes import IN_A_CIRCLE, open_causes
from .settings import SETTINGS
from .waits import LoggedWaits

_MOST_CALLS = 4


def circle(logged: LoggedWaits, wait_end: WaitEnd) -> Finding:
    calls = [logged.waits.pending[i] for i in wait_end.pending]
    first, out_of_line = _centre(logged, wait_end, calls)
    # Each of them says itself that it had not come to what the others wait in.
    proved = not out_of_line and all(call.lacking for call in calls)
    named = wait_end.ranks if proved else out_of_line
    cause = "order_inversion" if proved else "undetermined"
    shown = [first, *(call for call in calls if call is not first)][:_MOST_CALLS]
    shown = [call for call in shown if _awaited(call)]
    said = (
        f"{upper(ranks_words(out_of_line))} {verb(out_of_line, 'is', 'are')} out of line."
        if out_of_line
        else ""
    )
    cohorts = [Cohort(ranks=format_ranks(first.waiting), call=asked_in(logged, first))]
    rest = out_of_line or tuple(sorted(set(_awaited(first)) & set(wait_end.ranks)))
    return Finding(
        cause=cause,
        confidence="supported" if named else "hypothesis",
        sentence=told(
            in_circle(wait_end.ranks, [in_calls(logged, c) for c in shown], [_awaited(c) for c in shown]),
            said,
        ),
        culprits=named,
        victims=tuple(sorted({*wait_end.victims, *wait_end.ranks} - set(named))),
        divergence=Divergence(
            group=logged.groups[first.group].words,
            members=logged.groups[first.group].listed,
            seq=first.slot,
            kind="cycle",
            cohorts=[*cohorts, Cohort(ranks=format_ranks(rest))] if rest else cohorts,
            exact=False,
        ),
        waits=wait_list(logged, wait_end),
        evidence=tuple(r.evidence for c in shown for r in logged.of_call(c)[:1]),
        missing=SETTINGS,
        unadvised=("probes",),
        alternatives=open_causes(
            [each for each in IN_A_CIRCLE if each[0] != cause],
            out_of_line or wait_end.ranks,
            decided_by="the dumps of these ranks",
        ),
    )


def _awaited(call: Pending) -> tuple[int, ...]:
    return call.lacking or call.busy or call.unknown


def _centre(logged: LoggedWaits, wait_end: WaitEnd, calls: list[Pending]) -> tuple[Pending, tuple[int, ...]]:
    """The call that the circle is told by, and who is out of line in it, if that is clear.

    A call that some host has not issued comes before one that all have issued and some device has not come to.
    """
    found = [(call, _out_of_line(logged, wait_end, call, calls)) for call in calls]

    def order(one: tuple[Pending, tuple[int, ...]]) -> tuple[bool, bool, int, int]:
        call, out = one
        return not out, bool(call.busy) and not call.lacking, -len(call.waiting), -(call.slot or 0)

    return min(found, key=order)


def _out_of_line(
    logged: LoggedWaits, wait_end: WaitEnd, call: Pending, calls: list[Pending]
) -> tuple[int, ...]:
    """The few that are elsewhere, where all other members wait in one call, and that wait for those members there.

    A rank that waits for somebody else there is only on the way from one to the other; and of two that wait for each
    other, each in another call, either may be the one that is out of line.
    """
    members, here = set(logged.groups[call.group].members), set(call.waiting)
    few = members - here
    if not few or not few <= set(wait_end.ranks) or 3 * len(few) > len(here):
        return ()
    there = [other for other in calls if few & set(other.waiting)]
    meant = all(len(here & set(_awaited(other))) > len(few) for other in there)
    return tuple(sorted(few)) if there and meant else ()
