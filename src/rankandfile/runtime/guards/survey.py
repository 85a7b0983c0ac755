"""Why a meeting does not take place: where the ranks are that did not come."""

from __future__ import annotations

import time
from collections import defaultdict

from rankandfile.runtime.guards import arrival, place
from rankandfile.runtime.guards.arrival import Arrival
from rankandfile.runtime.guards.errors import GuardError, GuardTimeout, Parted, PeerFailed
from rankandfile.runtime.guards.guard import Guard
from rankandfile.runtime.guards.membership import spelled

#: Where ranks were at the last look: rank -> key of the guard that it waits at.
Seen = dict[int, str]

#: Absent ranks of which a message tells where they were.
_TOLD = 6


def hopeless(guard: Guard, awaited: tuple[int, ...], before: Seen) -> tuple[str | None, Seen]:
    """How the guard was settled, if it is certain that a rank will not come; and where ranks now wait instead."""
    elsewhere: dict[int, Arrival] = {}
    here = [guard.members.me]
    for rank in awaited:
        process, arrivals = arrival.read(guard.members, rank)
        if process is None:
            continue
        if _is_here(guard, arrivals):
            here.append(rank)
            continue
        if (why := _ended(arrivals)) is not None:
            return guard.settle_error(_peer_failed(guard, rank, f"{why[1]} at {why[0].words()}")), {}
        if arrival.is_gone(process):
            last = f"; its last guard was {arrivals[-1].words()}" if arrivals else ""
            what = f"is gone: process {process.pid} does not exist any more{last}"
            return guard.settle_error(_peer_failed(guard, rank, what)), {}
        if (other := _waits_elsewhere(guard, arrivals)) is not None:
            elsewhere[rank] = other
    now = {rank: at.key for rank, at in elsewhere.items()}
    # A rank that was seen at the same other guard twice is stuck there: it needs this rank, which is here.
    stuck = {rank: at for rank, at in elsewhere.items() if before.get(rank) == at.key}
    if stuck:
        return guard.settle_error(_parted(guard, here, stuck), also={at.key for at in stuck.values()}), {}
    return None, now


def too_late(guard: Guard, awaited: tuple[int, ...], waited: float) -> GuardError:
    """The error for a wait that has taken long enough."""
    absent: dict[int, list[Arrival]] = {}
    for rank in awaited:
        _, arrivals = arrival.read(guard.members, rank)
        if not _is_here(guard, arrivals):
            absent[rank] = arrivals
    missing = tuple(absent)
    told = [f"rank {rank} {_last_seen(absent[rank])}" for rank in missing[:_TOLD]]
    more = [f"and {len(missing) - _TOLD} more"] if len(missing) > _TOLD else []
    who = f"{_ranks(missing)} did not arrive" if missing else "all arrived, and nobody settled it"
    where = "; ".join(told + more)
    message = f"{guard.title}: waited {waited:.3g} s, {who}" + (f" ({where})" if where else "")
    return GuardTimeout(message, guard.facts(missing=missing, odd=missing))


def _ranks(ranks: tuple[int, ...] | list[int]) -> str:
    return f"rank{'s' if len(ranks) > 1 else ''} {spelled(ranks)}"


def _is_here(guard: Guard, arrivals: list[Arrival]) -> bool:
    return any(at.key == guard.at.key and at.how == "waiting" for at in arrivals)


def _ended(arrivals: list[Arrival]) -> tuple[Arrival, str] | None:
    """A block that the rank failed in, or left, and that this rank is still in."""
    for at in arrivals:
        if at.how != "waiting" and at.how != "working" and place.is_in_block(at.key):
            return at, at.how.replace("failed:", "failed with", 1)
    return None


def _waits_elsewhere(guard: Guard, arrivals: list[Arrival]) -> Arrival | None:
    """The guard that the rank's main thread waits at, where that can only end after this one.

    Only the main thread tells, on both sides: another thread could still come here.
    """
    main = [at for at in arrivals if not at.thread and at.how == "waiting"]
    if guard.at.thread or not main or not main[-1].key.startswith(guard.members.ident):
        return None
    # Others overtake this rank at times, and have been let go where they say that they wait.
    return None if guard.members.store.check([f"{main[-1].key}/outcome"]) else main[-1]


def _peer_failed(guard: Guard, rank: int, what: str) -> PeerFailed:
    message = f"{guard.title}: rank {rank} will not come: it {what}"
    return PeerFailed(message, guard.facts(missing=(rank,), odd=(rank,)))


def _parted(guard: Guard, here: list[int], stuck: dict[int, Arrival]) -> Parted:
    by_place: dict[str, list[int]] = defaultdict(list, {guard.at.words(): here})
    for rank, at in stuck.items():
        words = at.words()
        if words == guard.at.words():
            words += f" for the {at.number + 1}. time, not the {guard.at.number + 1}."
        by_place[words].append(rank)
    ordered = sorted(by_place.items(), key=lambda item: len(item[1]))
    size = len(guard.members.ranks)
    odd = [rank for _, ranks in ordered if len(ranks) * 2 <= size for rank in ranks]
    told = [f"{_ranks(ranks)} {'wait' if len(ranks) > 1 else 'waits'} at {place}" for place, ranks in ordered]
    message = f"the ranks of {guard.at.group} took different ways, and wait for each other: {'; '.join(told)}"
    missing = set(guard.members.ranks) - {*here, *stuck}
    return Parted(message, guard.facts(missing=tuple(sorted(missing)), odd=tuple(sorted(odd))))


def _last_seen(arrivals: list[Arrival]) -> str:
    if not arrivals:
        return "was at no guard yet"
    last = arrivals[-1]
    ago = f"{max(0.0, time.time() - last.at):.3g} s ago"
    if last.how == "working":
        return f"has been at work in {last.words()} since {ago}"
    how = "" if last.how == "waiting" else f" ({last.how})"
    return f"was last at {last.words()}, {ago}{how}"
