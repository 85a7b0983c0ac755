"""Calls in flight that nothing shows to be late: a job that runs, or one that ended in the middle of a call."""

from __future__ import annotations

import math

from rankandfile.model.diagnosis import Missing
from rankandfile.reason.document import cited, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.verdict.moved import moved
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import call_phrase, first_pending, pending_row
from rankandfile.reason.waits.patience import (
    Patience,
    late_after_ns,
    longest_pause_ns,
    patience,
    waited_ns,
)
from rankandfile.reason.words import ranks_words, upper, verb

_MOST_SHOWN = 4
#: Looks that are closer to each other may have seen one and the same.
_SHORTEST_NS = 5_000_000_000
#: What is shorter is 0.0 s.
_SHOWN_NS = 50_000_000


@finder(precedence=320)
def in_flight(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    if wait_end.kind not in ("joined", "absent", "behind"):
        return None
    call = first_pending(facts, wait_end)
    if call is None:
        return None
    waited = patience(facts, call)
    if waited is not Patience.NOT_YET and not (waited is Patience.LATE and wait_end.kind == "behind"):
        return None
    late = wait_end.ranks if wait_end.kind == "absent" else ()
    seen = {rank: facts.hosts[rank] for rank in wait_end.ranks if rank in facts.hosts}
    return Finding(
        cause="undetermined",
        confidence="hypothesis",
        hang=False,
        ordinary=waited is Patience.NOT_YET,
        sentence=(
            f"No hang is proved. {_state(facts, wait_end, call)} {_pace(facts, call)}{_where(facts, late)}"
        ),
        evidence=(
            *cited(pending_row(facts, call)),
            *(i for rank in sorted(seen)[:_MOST_SHOWN] for i in seen[rank].evidence[:1]),
        ),
        contradicted_by="the same call still in flight in a later dump",
        explains=0,
        alternatives=(
            perhaps(
                "no_hang", "The job was running.", decided_by="a second dump in which the call has ended"
            ),
            perhaps(
                "network_stalled" if wait_end.kind == "joined" else "host_blocked",
                "If it has been in flight for long, this is a hang.",
                wait_end.ranks,
                decided_by="a second dump, or the time at which this one was taken",
            ),
        ),
        missing=(
            Missing(
                what="whether it goes on",
                how=f"look again {_later(facts, call)} s later: py-spy dump --pid PID on each rank, or its dump once "
                "more; --hung if you know that it hung",
            ),
        ),
        unadvised=("anti_advice", "probes"),
    )


def _state(facts: Facts, wait_end: WaitEnd, call: Pending) -> str:
    phrase, inside = call_phrase(facts, call), call.waiting
    if call.group in facts.membership.unsure:
        were = f"{ranks_words(inside)} {verb(inside, 'was', 'were')}"
        return f"When the dumps were written, {were} in the {phrase}."
    if wait_end.kind != "absent":
        return f"All members have joined the {phrase}, which was in flight."
    return f"When the dumps were written, {ranks_words(wait_end.ranks)} had not come to the {phrase} yet."


def _pace(facts: Facts, call: Pending) -> str:
    if moved(facts):
        return "Between the stacks and the dumps the job moved, and nothing later shows that it stands."
    waited, pause = waited_ns(facts, call), longest_pause_ns(facts)
    those = f"{upper(ranks_words(call.waiting))} had waited"
    if waited is None or waited < 0:
        return f"{those} no longer than usual."
    before = (
        f"{'up to ' if pause >= _SHOWN_NS else ''}{_seconds(pause)} lay between two calls of a rank before"
    )
    if waited <= pause:
        return f"{those} {_seconds(waited)}; {before}."
    late = _later(facts, call)
    nothing = f"less than {late} s proves nothing here" if waited < late * 1e9 else "it proves nothing yet"
    return f"{those} {_seconds(waited)}, and {nothing}: {before}."


def _where(facts: Facts, late: tuple[int, ...]) -> str:
    """Where the stacks show those that had not come: for a moment, and not for good."""
    told = [
        f"{ranks_words([rank])} was {stand.phrase}"
        for rank in late[:_MOST_SHOWN]
        if (stand := facts.hosts.get(rank)) is not None and not stand.died
    ]
    return f" By its stack, {told[0]}." if len(told) == 1 else f" {upper('; '.join(told))}." if told else ""


def _later(facts: Facts, call: Pending) -> int:
    """After so long another look at the same calls would prove it."""
    return math.ceil(max(late_after_ns(facts, call), _SHORTEST_NS) / 1e9)


def _seconds(time_ns: int) -> str:
    return f"{time_ns / 1e9:.1f} s" if time_ns >= _SHOWN_NS else "less than 0.1 s"
