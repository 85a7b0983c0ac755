"""What the watchdogs' lines of all ranks say together, where there is not one dump.

Which group, which collective, who is behind and who never spoke can be had from counters; what led there cannot.
"""

from __future__ import annotations

from msgspec.structs import replace

from rankandfile.model.sentence import told
from rankandfile.reason.calls.contracts import contract_of
from rankandfile.reason.calls.requests import Request, of_report, sides
from rankandfile.reason.claims.in_words import waiting
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.did_instead import location_of, world_of
from rankandfile.reason.ranks.from_logs.silence import silence
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.words import ranks_words, upper, verb

from .before_it import suspected, with_what_came_before
from .behind import behind
from .came_late import came_late
from .circle import circle
from .disagreement import disagreement
from .in_words import in_calls, wait_list
from .nobody_shares_a_call import nobody_shares_a_call
from .numbers import out_of_numbers
from .one_in_an_unlisted_group import one_in_an_unlisted_group
from .open_causes import ANOTHER_CALL, BELOW_THE_HOSTS, open_causes
from .own_argument import own_argument
from .settings import SETTINGS
from .waits import LoggedWaits, gave_up, logged_waits

_MOST_FINDINGS = 3


def watchdogs_together(facts: Facts) -> list[Finding]:
    """A few that name somebody, else one that names nobody, with how many ranks left no line.

    None if dumps tell of all ranks that wait, or if no watchdog gave up on anything.
    """
    if not (facts.accounts.gave_up | gave_up(facts.case)) - set(facts.case.ranks_seen):
        return []
    logged = logged_waits(facts.case, facts.accounts, world_of(facts), facts.code)
    if odd := out_of_numbers(facts, logged):
        return [with_what_came_before(facts, one) for one in odd[:_MOST_FINDINGS]]
    order = {"absent": 0, "cycle": 1, "missing": 2, "joined": 3}
    wait_ends = sorted(logged.waits.wait_ends, key=lambda r: (order.get(r.kind, 9), -len(r.victims), r.ranks))
    # Of an end that no call of the log hangs on, no watchdog has said anything.
    spoken = [wait_end for wait_end in _together(wait_ends) if wait_end.pending]
    joined = any(wait_end.kind == "joined" for wait_end in spoken)
    world = world_of(facts)
    apart = nobody_shares_a_call(logged, world) or one_in_an_unlisted_group(logged, world) if joined else None
    found = [_finding(facts, logged, wait_end, apart) for wait_end in spoken]
    named = [finding for finding in found if finding.culprits]
    if named:
        return [came_late(facts, finding) for finding in named[:_MOST_FINDINGS]]
    silent = silence(facts.case, world_of(facts)) if found else ""
    return [replace(finding, sentence=told(finding.sentence, silent)) for finding in found[:1]]


def _together(wait_ends: list[WaitEnd]) -> list[WaitEnd]:
    """Ranks that one and the same call lacks are one fault."""
    faults: list[list[WaitEnd]] = []
    of_call: dict[tuple[str, int], int] = {}
    for wait_end in wait_ends:
        known = [of_call[wait_end.kind, i] for i in wait_end.pending if (wait_end.kind, i) in of_call]
        number = min(known) if known and wait_end.ranks else len(faults)
        if number == len(faults):
            faults.append([])
        faults[number].append(wait_end)
        for i in wait_end.pending:
            of_call[wait_end.kind, i] = min(number, of_call.get((wait_end.kind, i), number))
    return [parts[0] if len(parts) == 1 else _one(parts) for parts in faults]


def _one(parts: list[WaitEnd]) -> WaitEnd:
    # Many parts have the same victims, of whom there may be a hundred thousand: each tuple of them is looked at once.
    distinct = {id(one.victims): one.victims for one in parts}.values()
    return WaitEnd(
        tuple(sorted({rank for one in parts for rank in one.ranks})),
        tuple(sorted({index for one in parts for index in one.pending})),
        parts[0].kind,
        tuple(sorted({victim for victims in distinct for victim in victims})),
    )


def _finding(facts: Facts, logged: LoggedWaits, wait_end: WaitEnd, apart: Finding | None) -> Finding:
    """`apart`: what is said where all have come, if one rank alone is in a group that nobody lists."""
    call = _first(logged, wait_end)
    if wait_end.kind == "cycle":
        return circle(logged, wait_end)
    proved = wait_end.kind == "absent"
    if proved or wait_end.kind == "missing":
        late, parts = behind(facts, logged, wait_end, call), _parts(logged, call)
        # Of whom nobody heard may be in either call: it is not what those wait for that disagree.
        return (
            late
            if len(parts) < 2 or proved or late.culprits
            else _unheard(facts, logged, wait_end, call, parts)
        )
    apart = apart if wait_end.kind == "joined" else None
    parts = _parts(logged, call)
    own = own_argument(facts, logged, wait_end, call) if len(parts) < 2 and apart is None else None
    found = with_what_came_before(facts, apart or own or _all_came(logged, wait_end, call, parts))
    return found if found.culprits or apart or own else suspected(facts, found, call.waiting)


def _first(logged: LoggedWaits, wait_end: WaitEnd) -> Pending:
    """The call that the others wait in for these ranks: of a group that they surely are in, and first of the busiest.

    Lines of different ranks have no order within seconds; the group that calls most often misses somebody first.
    """
    ranks = set(wait_end.ranks)

    def order(index: int) -> tuple[bool, int, int]:
        call = logged.waits.pending[index]
        surely = ranks <= set(logged.groups[call.group].members)
        return not surely, -(call.slot or 0), logged.issued_ns.get(index, 1 << 62)

    return logged.waits.pending[min(wait_end.pending, key=order)]


def _unheard(
    facts: Facts, logged: LoggedWaits, wait_end: WaitEnd, call: Pending, parts: list[list[Request]]
) -> Finding:
    found = disagreement(logged, wait_end, call, parts)
    # Of lines that were left out as alike nobody knows whose they were.
    unheard = (
        "" if facts.accounts.left_out else f"{upper(ranks_words(wait_end.ranks))} left no line about it."
    )
    return replace(found, sentence=told(found.sentence, unheard))


def _parts(logged: LoggedWaits, call: Pending) -> list[list[Request]]:
    """What their watchdogs say that they asked for, those that asked for the same thing together."""
    return sides([claim for report in logged.of_call(call) if (claim := of_report(report))])


def _all_came(logged: LoggedWaits, wait_end: WaitEnd, call: Pending, parts: list[list[Request]]) -> Finding:
    if len(parts) > 1:
        return disagreement(logged, wait_end, call, parts)
    past = _gone_past(logged, call)
    # Where more got past it than wait in it, it is these that asked for something else, if anybody did.
    odd = call.waiting if len(past) > len(call.waiting) else ()
    what = (
        f"{upper(ranks_words(past))} {verb(past, 'is', 'are')} past it, and it ends for nobody before all have come: "
        "what was made there at that number was another call, or one that asks for something else."
        if past
        else "No watchdog says that anyone is behind: a device or the network may be at fault, or a rank that left no "
        "line."
    )
    return Finding(
        cause="undetermined",
        confidence="hypothesis",
        sentence=told(waiting(in_calls(logged, call)), what),
        victims=wait_end.victims or call.waiting,
        waits=wait_list(logged, wait_end),
        evidence=tuple(r.evidence for r in logged.of_call(call)[:4]),
        missing=SETTINGS,
        culprits=odd,
        location=location_of(parts[0][0].place) if odd and parts else None,
        doing=dict.fromkeys(odd, "waits in a call that most are past"),
        alternatives=open_causes(ANOTHER_CALL if past else BELOW_THE_HOSTS),
        unadvised=("anti_advice", "probes"),
    )


def _gone_past(logged: LoggedWaits, call: Pending) -> tuple[int, ...]:
    """Members that wait in a later call of the group, where the call ends for nobody before all have come to it."""
    ops = {contract_of(report.op).early for report in logged.of_call(call) if report.op}
    if ops != {"nobody"} or call.slot is None:
        return ()
    members = logged.groups[call.group].members
    gave_up_later = (r for r in members if logged.latest.get((r, call.group), -1) > call.slot)
    return tuple(sorted({*gave_up_later} - {*call.waiting}))
