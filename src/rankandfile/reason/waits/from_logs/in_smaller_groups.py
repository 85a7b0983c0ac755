"""Ranks that have not come to a call of all ranks, and whose stacks stand in another call: they wait themselves.

That call is of a smaller group, as they have nothing open in the group of all; and of its members those that went on
to the call of all ranks have left it out, or come to it later. So whoever is missing from the call of all ranks is a
victim there, and the one who is out of line is among those that wait in it; of a receive, also the one who is to send.
"""

from __future__ import annotations

from rankandfile.model.diagnosis import Location, Missing
from rankandfile.model.sentence import told
from rankandfile.reason.calls.requests import of_report
from rankandfile.reason.claims.in_words import waiting
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.did_instead import location_of
from rankandfile.reason.ranks.from_logs.logged_divergences import logged_divergences
from rankandfile.reason.ranks.host import Stand
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.from_stacks.in_words import ranks_of
from rankandfile.reason.waits.from_stacks.places import left_at, stack_divergence
from rankandfile.reason.waits.from_stacks.where_all_stand import WhereAllStand
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.words import ranks_words, upper, verb
from rankandfile.recorder_names import BEFORE, RING

from .in_words import in_calls, wait_list
from .waits import LoggedWaits

_WAIT, _STAND = ("waits", "wait"), ("stands", "stand")


def waits_elsewhere(facts: Facts, logged: LoggedWaits, wait_end: WaitEnd, call: Pending) -> tuple[int, ...]:
    """Of the ranks that never came to a call of all ranks, those that stand in another call: in a collective, which is
    of a smaller group, or in a send or a receive. And who stands beside one of these, at a line of the same function
    that shows no frame of what it called: a wait in C leaves none."""
    if wait_end.kind != "absent" or not logged.groups[call.group].whole:
        return ()
    stands = {rank: facts.hosts[rank] for rank in wait_end.ranks if rank in facts.hosts}
    inside = {_function_of(stand) for stand in stands.values() if _waits(stand)}
    return tuple(
        rank
        for rank, stand in stands.items()
        if _waits(stand) or (_shows_no_frame(stand) and _function_of(stand) in inside)
    )


def _waits(stand: Stand) -> bool:
    return stand.waits == "ranks" and stand.activity in ("collective", "p2p") and not stand.moving


def _shows_no_frame(stand: Stand) -> bool:
    return stand.activity == "user_code" and not (stand.running or stand.moving)


def _function_of(stand: Stand) -> tuple[str, str | None]:
    return stand.location.file, stand.location.function


def _where_they_part(facts: Facts, there: tuple[int, ...]) -> Location | None:
    """The line of the program from which the way of those that wait elsewhere is another one."""
    divergence = stack_divergence(WhereAllStand(facts).cohorts)
    place = (
        left_at(divergence) if divergence is not None and set(ranks_of(divergence.odd)) == {*there} else None
    )
    return None if place is None else Location(file=place.file, line=place.line, function=place.function)


def _in_transfers(facts: Facts, there: tuple[int, ...]) -> bool:
    kinds = {facts.hosts[rank].activity for rank in there}
    return "p2p" in kinds <= {"p2p", "user_code"}


def _all_show_it(facts: Facts, there: tuple[int, ...]) -> bool:
    return all(facts.hosts[rank].activity != "user_code" for rank in there)


def _of_what(facts: Facts, here: tuple[int, ...], there: tuple[int, ...]) -> str:
    if _in_transfers(facts, there):
        peers = sorted({p for r in there if (p := facts.hosts[r].asked.awaited) is not None} & {*here})
        other = ranks_words(peers or here)
        if not peers and len(here) > 1:
            other = f"whoever of {other} is on the other side"
        return (
            f"{other} may have left that message out, or {ranks_words(there)} may be a round behind or ahead."
        )
    return (
        "a call of a smaller group, as nothing of the group of all ranks is open there. Whoever of "
        f"{ranks_words(here)} belongs to that group has gone past that call, or comes to it later."
    )


def in_smaller_groups(facts: Facts, logged: LoggedWaits, wait_end: WaitEnd, call: Pending) -> Finding:
    """All that never came wait elsewhere: whom they wait for is among those that came; who said so, is suspected."""
    here, there = call.waiting, wait_end.ranks
    phrases = {facts.hosts[rank].phrase for rank in there}
    where = phrases.pop() if len(phrases) == 1 else "in other calls"
    said = {rank: one for rank, one in logged_divergences(facts).items() if rank in here}
    doing = {rank: f'wrote, alone: "{one.words}", and went on' for rank, one in said.items()}
    who = "; ".join(f"{ranks_words([rank])} {words}" for rank, words in doing.items())
    source = "the source (--src), or " if facts.code.makes_groups is None else ""
    claim = next((c for report in logged.of_call(call) if (c := of_report(report))), None)
    return Finding(
        cause=next(iter(said.values())).cause if said else "undetermined",
        confidence="hypothesis",
        sentence=told(
            waiting(in_calls(logged, call)),
            f"{upper(ranks_words(there))} {verb(there, 'has', 'have')} not come to it, and "
            f"{verb(there, *_WAIT) if _all_show_it(facts, there) else verb(there, *_STAND)} {where}: "
            f"{_of_what(facts, here, there)}",
            f"{upper(who)}." if who else "",
        ),
        culprits=tuple(said),
        doing=doing,
        victims=tuple(sorted({*here, *there} - said.keys())),
        waits=wait_list(logged, wait_end),
        location=next((one.place for one in said.values() if one.place), None)
        or _where_they_part(facts, there)
        or (location_of(claim.place) if claim is not None and _in_transfers(facts, there) else None),
        evidence=(
            *(one.evidence for one in said.values()),
            *(report.evidence for report in logged.of_call(call)[:1]),
            *(i for rank in there[:4] for i in facts.hosts[rank].evidence[:1]),
        ),
        alternatives=(
            perhaps(
                "group_mismatch",
                f"{upper(ranks_words(there))} may have given that call the wrong group, or made one too many.",
                there,
                decided_by="the source where the ways differ, or flight-recorder dumps of all ranks",
            )
            if not _in_transfers(facts, there)
            else perhaps(
                "skipped_collective",
                f"{upper(ranks_words(there))} may be a round behind, or ahead.",
                there,
                decided_by="the source where the ways differ",
            ),
            perhaps(
                "order_inversion",
                "Some of them may make these two calls in another order.",
                decided_by="flight-recorder dumps of all ranks",
            ),
        ),
        missing=(
            Missing(
                what="who sends what to whom" if _in_transfers(facts, there) else "who belongs to that group",
                how=f"{source}flight-recorder dumps of all ranks: {RING}=2000 ({BEFORE})",
            ),
        ),
        unadvised=("probes",),
    )
