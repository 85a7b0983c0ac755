"""Ranks that are gone while others wait in calls of theirs: wait ends in their own right, whatever else is wrong."""

from __future__ import annotations

from collections import defaultdict

from rankandfile.reason.ranks.from_logs.accounts import Accounts

from .graph import WaitEnd, Waits


def with_deaths(wait_ends: tuple[WaitEnd, ...], waits: Waits, accounts: Accounts) -> tuple[WaitEnd, ...]:
    """The wait ends, and one per rank that ended by its own fault and that none of them names."""
    named = {rank for wait_end in wait_ends for rank in wait_end.ranks}
    gone = {rank for rank in accounts.ends.keys() - named if died_first(accounts, rank)} - _all_alike(
        accounts
    )
    calls: dict[int, list[int]] = defaultdict(list)
    for index, call in enumerate(waits.pending):
        # A ring tells also of the call in which its process died: that one is waited for, and waits no more.
        for rank in gone.intersection((*call.unknown, *call.lacking, *call.waiting)):
            calls[rank].append(index)
    more: list[WaitEnd] = []
    for rank in sorted(calls):
        pending = [waits.pending[i] for i in calls[rank]]
        waiting = {r for call in pending for r in call.waiting} - gone
        ends = (accounts.ends.get(r) for r in (rank, *waiting))
        if all(end is not None and end.kind == "finished" for end in ends):
            # The job ended well: nobody waited for a rank that had left.
            continue
        kind = "absent" if any(rank in call.lacking for call in pending) else "missing"
        more.append(WaitEnd((rank,), tuple(calls[rank]), kind, tuple(sorted(waiting))))
    # A call that all have joined, and in which one has died, does not fail for want of a network.
    dead = {index for wait_end in more for index in wait_end.pending}
    return (
        *(
            wait_end
            for wait_end in wait_ends
            if wait_end.kind != "joined" or not dead.intersection(wait_end.pending)
        ),
        *more,
    )


def _all_alike(accounts: Accounts) -> set[int]:
    """Ranks that exited with an error, where every rank did and no log tells why: nothing says who was first."""
    silent = {
        rank
        for rank, end in accounts.ends.items()
        if end.kind == "exited" and rank not in accounts.raised and rank not in accounts.echoes
    }
    return silent if len(silent) > 1 and silent == accounts.ends.keys() else set()


def died_first(accounts: Accounts, rank: int) -> bool:
    """It did not end because others had: what it wrote is no echo of theirs."""
    if not accounts.gone(rank):
        return False
    end = accounts.ends[rank]
    return end.kind == "killed" or rank in accounts.raised or rank not in accounts.echoes
