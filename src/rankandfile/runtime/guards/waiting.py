"""Waiting for a guard to be settled.

One rank, the first to arrive, is the lookout: it surveys the others from time to time, and where it sees that the
meeting cannot take place it settles that, for everybody. The others only ask for the outcome.
"""

from __future__ import annotations

import time

from rankandfile.runtime.guards import survey
from rankandfile.runtime.guards.guard import Guard

#: Seconds before the lookout looks round for the first time, and between two looks.
LOOK_S = 1.0
#: Seconds of a look's pause per rank: it asks the store once for each.
LOOK_PER_RANK_S = 0.005
#: The longest pause between two questions to the store, and its share per rank: one server answers them all.
PAUSE_S = 0.005
PAUSE_PER_RANK_S = 0.0001


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
