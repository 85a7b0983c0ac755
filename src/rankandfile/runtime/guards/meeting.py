"""Ranks meet at a guard: each adds its vote to one number in the store, and the last one to come settles the result.

Two round trips to the store per rank, whatever the size of the group: one atomic add that counts arrivals in its low
bits and sums the votes above them, and one read of the outcome.
"""

from __future__ import annotations

from collections.abc import Callable

from rankandfile.runtime.guards.guard import Guard
from rankandfile.runtime.guards.membership import Members
from rankandfile.runtime.guards.waiting import wait_for


def vote_bits(members: Members) -> int:
    """Bits that a vote may have: the sum of all must fit into 63, beside the count of arrivals."""
    return 62 - 2 * len(members.ranks).bit_length()


def meet(guard: Guard, vote: int, last: Callable[[int], str] = str) -> str:
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
            outcome = wait_for(guard, others, lookout=count == 1)
        guard.leave()
    return guard.result(outcome)
