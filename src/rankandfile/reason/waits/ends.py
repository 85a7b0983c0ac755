"""Wait ends worth a verdict: those that belong together merged, the weak ones dropped where strong ones explain all."""

from __future__ import annotations

import polars as pl
from msgspec.structs import replace

from .graph import WaitEnd, Waits

STRONG = ("mismatched", "behind", "absent", "cycle")
"""Kinds that follow from the calls themselves. The others, missing and joined, only say where the trail ends."""


def settled_ends(waits: Waits, stands: pl.DataFrame, mismatches: pl.DataFrame) -> tuple[WaitEnd, ...]:
    """The wait ends that get a finding each, the strongest and those with the most victims first."""
    wait_ends = _merge_absent(list(waits.wait_ends))
    strong = [wait_end for wait_end in wait_ends if wait_end.kind in STRONG]
    if not any(wait_end.kind == "mismatched" for wait_end in wait_ends):
        strong += _broken_off(stands, mismatches, strong)
    chosen = strong or wait_ends
    return tuple(
        sorted(chosen, key=lambda r: (STRONG.index(r.kind) if r in strong else 9, -len(r.victims), r.ranks))
    )


def _merge_absent(wait_ends: list[WaitEnd]) -> list[WaitEnd]:
    """Ranks that one and the same call lacks, and that wait for nobody, are one fault."""
    faults: list[list[WaitEnd]] = []
    first: dict[tuple[str, int], int] = {}
    """The first fault of a kind that a call belongs to."""
    for wait_end in wait_ends:
        calls = [(wait_end.kind, call) for call in wait_end.pending if wait_end.kind in ("absent", "missing")]
        number = min((first[call] for call in calls if call in first), default=len(faults))
        if number == len(faults):
            faults.append([])
        faults[number].append(wait_end)
        first |= {call: min(first.get(call, number), number) for call in calls}
    return [_one(parts) for parts in faults]


def _one(parts: list[WaitEnd]) -> WaitEnd:
    if len(parts) == 1:
        return parts[0]
    return replace(
        parts[0],
        ranks=tuple(sorted({rank for part in parts for rank in part.ranks})),
        pending=tuple(sorted({call for part in parts for call in part.pending})),
        victims=tuple(sorted({rank for part in parts for rank in part.victims})),
    )


def _broken_off(stands: pl.DataFrame, mismatches: pl.DataFrame, strong: list[WaitEnd]) -> list[WaitEnd]:
    """A mismatch that nobody waits in any more: gloo breaks the connection, everyone fails, one process aborts.

    It counts where the group came no further, or lost a member without a dump.
    """
    if strong or not mismatches.height:
        return []
    out: list[WaitEnd] = []
    for group, slot in mismatches.group_by("group").agg(pl.col("slot").min()).sort("group").iter_rows():
        members = stands.filter(pl.col("group") == group)
        came_no_further = bool((members["last"] <= slot).any())
        if came_no_further or not members["known"].all():
            ranks = tuple(members.filter(pl.col("last") >= slot)["rank"].to_list())
            out.append(WaitEnd((), (), "mismatched", ranks, (group,)))
    return out
