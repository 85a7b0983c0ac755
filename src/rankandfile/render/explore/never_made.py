"""The call that a rank to blame never made, as the others made it: a row of its own among those that it made."""

from __future__ import annotations

import polars as pl

from rankandfile.model.case import Case
from rankandfile.model.claims import LeftOut, NeverIssued
from rankandfile.model.diagnosis import Diagnosis, Divergence, Verdict
from rankandfile.model.ranks import parse_ranks
from rankandfile.render.flat import group_names


def never_made(case: Case, diagnosis: Diagnosis, rank: int) -> pl.DataFrame:
    """Another rank's record of that call; empty where the verdict says no such thing of this rank.

    Only what is known for sure: a claim that was checked, or a divergence that is told to be a skipped call.
    """
    nothing = case.calls.clear()
    best = next((one for one in diagnosis.verdicts if one.hang), None)
    divergence = best.divergence if best is not None else None
    if best is None or divergence is None or divergence.seq is None:
        return nothing
    named = {one.rank for one in best.named}
    if rank not in named or not _said(best, divergence, rank):
        return nothing
    # A rank is blamed for calls of its own groups alone.
    group = (
        case.groups.join(group_names(case), on="group")
        .filter((pl.col("group_label") == divergence.group) & pl.col("members").list.contains(rank))
        .get_column("group")
    )
    return case.calls.filter(
        pl.col("group").is_in(group.implode())
        & (pl.col("seq") == divergence.seq)
        & ~pl.col("is_p2p")
        & ~pl.col("rank").is_in(sorted(named))
    ).head(1)


def _said(verdict: Verdict, divergence: Divergence, rank: int) -> bool:
    if divergence.kind == "skipped" and divergence.exact:
        return True
    return any(
        isinstance(one, LeftOut | NeverIssued)
        and (one.group, one.seq) == (divergence.group, divergence.seq)
        and rank in parse_ranks(one.ranks)
        for one in verdict.claims
    )
