"""One rank tells, the others hear: the teller waits for nobody."""

from __future__ import annotations

from rankandfile.runtime.guards.guard import Guard
from rankandfile.runtime.guards.waiting import wait_for

#: Before the value, so that no value looks like an error.
_VALUE = "="


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
