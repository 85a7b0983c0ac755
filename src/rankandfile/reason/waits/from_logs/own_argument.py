"""All who wait in a call have come to it, and the source has each of them work out by itself what it asks for.

A watchdog tells how many elements a call has, and neither their type nor its root. Where the line on which they stand
makes one of these from a rank's own data, that comes before a network that fails.
"""

from __future__ import annotations

from msgspec import Struct

from rankandfile.model.diagnosis import Cohort, Divergence
from rankandfile.model.heuristics import heuristic
from rankandfile.model.ranks import format_ranks
from rankandfile.model.sentence import told
from rankandfile.reason.calls.contracts import contract_of
from rankandfile.reason.claims.in_words import waiting
from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd

from .in_words import asked_in, in_calls, wait_list
from .open_causes import BELOW_THE_HOSTS, open_causes
from .settings import SETTINGS
from .waits import LoggedWaits


class _Own(Struct, frozen=True):
    cause: str
    words: str


_ROOT = _Own(
    "root_mismatch",
    "Each takes for its root what it works out from its own data, as the source shows: they need not agree on it.",
)
_TYPE = _Own(
    "dtype_mismatch",
    "The tensor has the type of the value that each rank happens to have, as the source shows: watchdogs do not tell "
    "types, and an integer on one rank and a fraction on another do not go together.",
)


@heuristic(
    "own argument",
    "where all came to a call, what the source has each rank work out by itself may differ in it",
)
def own_argument(facts: Facts, logged: LoggedWaits, wait_end: WaitEnd, call: Pending) -> Finding | None:
    own = _own(facts, logged, call)
    if own is None:
        return None
    return Finding(
        cause=own.cause,
        confidence="hypothesis",
        sentence=told(waiting(in_calls(logged, call)), own.words),
        victims=wait_end.victims or call.waiting,
        divergence=Divergence(
            group=logged.groups[call.group].words,
            members=logged.groups[call.group].listed,
            seq=call.slot,
            kind="argument",
            cohorts=[Cohort(ranks=format_ranks(call.waiting), call=asked_in(logged, call))],
            exact=False,
        ),
        waits=wait_list(logged, wait_end),
        evidence=tuple(report.evidence for report in logged.of_call(call)[:4]),
        missing=SETTINGS,
        alternatives=open_causes(BELOW_THE_HOSTS),
        unadvised=("anti_advice",),
    )


def _own(facts: Facts, logged: LoggedWaits, call: Pending) -> _Own | None:
    places = {
        (stand.location.file, stand.location.line)
        for rank in call.waiting
        if (stand := facts.hosts.get(rank)) is not None
    }
    ops = {contract_of(report.op) for report in logged.of_call(call) if report.op}
    if not places or len(ops) != 1:
        return None
    if next(iter(ops)).early in ("root", "all but the root") and places <= facts.code.own_roots:
        return _ROOT
    return _TYPE if places <= facts.code.own_types else None
