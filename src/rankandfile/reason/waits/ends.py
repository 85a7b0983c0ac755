"""Roots worth a verdict: those that belong together merged, the weak ones dropped where strong ones explain all."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from .graph import Root, Waits

STRONG = ("mismatched", "behind", "absent", "cycle")
"""Kinds that follow from the calls themselves. The others, missing and joined, only say where the trail ends."""


def settle(waits: Waits, stands: pl.DataFrame, mismatches: pl.DataFrame) -> tuple[Root, ...]:
    roots = _merge_absent(list(waits.roots))
    strong = [root for root in roots if root.kind in STRONG]
    if not any(root.kind == "mismatched" for root in roots):
        strong += _broken_off(stands, mismatches, strong)
    chosen = strong or roots
    return tuple(
        sorted(chosen, key=lambda r: (STRONG.index(r.kind) if r in strong else 9, -len(r.victims), r.ranks))
    )


def _merge_absent(roots: list[Root]) -> list[Root]:
    """Ranks that one and the same call lacks, and that wait for nobody, are one fault."""
    out: list[Root] = []
    for root in roots:
        if root.kind in ("absent", "missing"):
            for i, other in enumerate(out):
                if other.kind == root.kind and set(other.pending) & set(root.pending):
                    out[i] = replace(
                        other,
                        ranks=tuple(sorted({*other.ranks, *root.ranks})),
                        pending=tuple(sorted({*other.pending, *root.pending})),
                        victims=tuple(sorted({*other.victims, *root.victims})),
                    )
                    break
            else:
                out.append(root)
        else:
            out.append(root)
    return out


def _broken_off(stands: pl.DataFrame, mismatches: pl.DataFrame, strong: list[Root]) -> list[Root]:
    """A mismatch that nobody waits in any more: gloo breaks the connection, everyone fails, one process aborts.

    It counts where the group came no further, or lost a member without a dump.
    """
    if strong or not mismatches.height:
        return []
    out: list[Root] = []
    for group, slot in mismatches.group_by("group").agg(pl.col("slot").min()).sort("group").iter_rows():
        members = stands.filter(pl.col("group") == group)
        came_no_further = bool((members["last"] <= slot).any())
        if came_no_further or not members["known"].all():
            ranks = tuple(members.filter(pl.col("last") >= slot)["rank"].to_list())
            out.append(Root((), (), "mismatched", ranks, (group,)))
    return out
