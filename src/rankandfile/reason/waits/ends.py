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
    out: list[WaitEnd] = []
    for wait_end in wait_ends:
        if wait_end.kind in ("absent", "missing"):
            for i, other in enumerate(out):
                if other.kind == wait_end.kind and set(other.pending) & set(wait_end.pending):
                    out[i] = replace(
                        other,
                        ranks=tuple(sorted({*other.ranks, *wait_end.ranks})),
                        pending=tuple(sorted({*other.pending, *wait_end.pending})),
                        victims=tuple(sorted({*other.victims, *wait_end.victims})),
                    )
                    break
            else:
                out.append(wait_end)
        else:
            out.append(wait_end)
    return out


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
