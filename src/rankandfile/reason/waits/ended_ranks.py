"""Ranks that are gone while others wait in calls of theirs: roots in their own right, whatever else is wrong."""

from __future__ import annotations

from collections import defaultdict

from rankandfile.reason.ranks.accounts import Testimony

from .graph import Root, Waits


def with_deaths(roots: tuple[Root, ...], waits: Waits, testimony: Testimony) -> tuple[Root, ...]:
    """The roots, and one per rank that ended by its own fault and that no root names."""
    named = {rank for root in roots for rank in root.ranks}
    gone = {rank for rank in testimony.ends.keys() - named if died_first(testimony, rank)} - _all_alike(
        testimony
    )
    calls: dict[int, list[int]] = defaultdict(list)
    for index, call in enumerate(waits.pending):
        # A ring tells also of the call in which its process died: that one is waited for, and waits no more.
        for rank in gone.intersection((*call.unknown, *call.lacking, *call.waiting)):
            calls[rank].append(index)
    more: list[Root] = []
    for rank in sorted(calls):
        pending = [waits.pending[i] for i in calls[rank]]
        waiting = {r for call in pending for r in call.waiting} - gone
        ends = (testimony.ends.get(r) for r in (rank, *waiting))
        if all(end is not None and end.kind == "finished" for end in ends):
            # The job ended well: nobody waited for a rank that had left.
            continue
        kind = "absent" if any(rank in call.lacking for call in pending) else "missing"
        more.append(Root((rank,), tuple(calls[rank]), kind, tuple(sorted(waiting))))
    # A call that all have joined, and in which one has died, does not fail for want of a network.
    dead = {index for root in more for index in root.pending}
    return (*(root for root in roots if root.kind != "joined" or not dead.intersection(root.pending)), *more)


def _all_alike(testimony: Testimony) -> set[int]:
    """Ranks that exited with an error, where every rank did and no log tells why: nothing says who was first."""
    silent = {
        rank
        for rank, end in testimony.ends.items()
        if end.kind == "exited" and rank not in testimony.raised and rank not in testimony.echoes
    }
    return silent if len(silent) > 1 and silent == testimony.ends.keys() else set()


def died_first(testimony: Testimony, rank: int) -> bool:
    """It did not end because others had: what it wrote is no echo of theirs."""
    if not testimony.gone(rank):
        return False
    end = testimony.ends[rank]
    return end.kind == "killed" or rank in testimony.raised or rank not in testimony.echoes
