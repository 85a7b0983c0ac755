"""Ranks meet at a guard: each adds its vote to one number in the store, and the last one to come settles the result.

Two round trips to the store per rank, whatever the size of the group: one atomic add that counts arrivals in its low
bits and sums the votes above them, and one read of the outcome. Where one rank tells and the others hear, the teller
waits for nobody.

One rank, the first to arrive, is the lookout: it surveys the others from time to time, and where it sees that the
meeting cannot take place it settles that, for everybody. The others only ask for the outcome.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from rankandfile.runtime.guards import survey
from rankandfile.runtime.guards.guard import Guard
from rankandfile.runtime.guards.membership import Members

#: Before a value that one rank tells, so that no value looks like an error.
_VALUE = "="

#: Seconds before the lookout looks round for the first time, and between two looks.
LOOK_S = 1.0
#: Seconds of a look's pause per rank: it asks the store once for each.
LOOK_PER_RANK_S = 0.005
#: The longest pause between two questions to the store, and its share per rank: one server answers them all.
PAUSE_S = 0.005
PAUSE_PER_RANK_S = 0.0001


def vote_bits(members: Members) -> int:
    """Bits that a vote may have: the sum of all must fit into 63, beside the count of arrivals."""
    return 62 - 2 * len(members.ranks).bit_length()


#: Of a guard, the ranks that are awaited, and whether this one looks out for them: comes back with the outcome.
Wait = Callable[[Guard, tuple[int, ...], bool], str]


def meet(guard: Guard, vote: int, last: Callable[[int], str] = str, wait: Wait | None = None) -> str:
    """What came of the votes, once every member has cast one; raises the error that was settled instead.

    The last rank to arrive turns the sum of the votes into what came of them.
    """
    members = guard.members
    bits = len(members.ranks).bit_length()
    with guard.arrived():
        total = members.store.add(guard.key("votes"), vote << bits | 1)
        count, votes = total & ((1 << bits) - 1), total >> bits
        if count == len(members.ranks):
            outcome = guard.settle(last(votes))
            guard.clear_before()
        else:
            others = tuple(rank for rank in members.ranks if rank != members.me)
            outcome = (wait or wait_for)(guard, others, count == 1)
        guard.leave()
    return guard.result(outcome)


def publish(guard: Guard, text: str) -> None:
    """Tell the other members; they may come for it later."""
    with guard.arrived():
        guard.settle(_VALUE + text)


def hear(guard: Guard, teller: int) -> str:
    """What `teller` told; waits for it."""
    members = guard.members
    with guard.arrived():
        first = members.store.add(guard.key("hearers"), 1) == 1
        outcome = wait_for(guard, (teller,), lookout=first)
        # The last to have heard clears up: the teller is gone on, and nobody else needs it.
        if members.store.add(guard.key("read"), 1) == len(members.ranks) - 1:
            for what in ("outcome", "hearers", "read"):
                members.store.delete_key(guard.key(what))
    return guard.result(outcome)[len(_VALUE) :]


def wait_for(guard: Guard, awaited: tuple[int, ...], lookout: bool) -> str:
    """The outcome of the guard. Where `awaited` ranks do not come in time, settles that and returns it."""
    store, key, ranks = guard.members.store, guard.key("outcome"), len(guard.members.ranks)
    between = max(LOOK_S, LOOK_PER_RANK_S * ranks)
    longest = max(PAUSE_S, PAUSE_PER_RANK_S * ranks)
    begin = time.monotonic()
    next_look = begin + between
    seen: survey.Seen = {}
    while not store.check([key]):
        now = time.monotonic()
        if now - begin > guard.patience:
            return guard.settle_error(survey.too_late(guard, awaited, now - begin))
        if lookout and now > next_look:
            settled, seen = survey.hopeless(guard, awaited, seen)
            if settled is not None:
                return settled
            next_look = time.monotonic() + between
        # A pause in proportion to the wait delays the outcome by a quarter of it at most.
        time.sleep(min((now - begin) / 4, longest))
    return str(store.get(key).decode())
