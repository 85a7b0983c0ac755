"""Nothing that was kept waits, and dumps end early: what was lost came last, and there a hang stands.

A dump begins with its process's own counters, one block a group: they outlive the calls that were cut off.
"""

from __future__ import annotations

import polars as pl
from msgspec import Struct

from rankandfile.model.diagnosis import Missing
from rankandfile.model.ledger import dump_id, group_id
from rankandfile.reason.facts import Facts
from rankandfile.reason.lookup import group_words
from rankandfile.reason.ranks.missing_dumps import missing_dumps
from rankandfile.reason.words import ranks_words, verb

from .finding import Finding

_MOST_GROUPS, _MOST_STANDS, _MOST_IDS = 2, 3, 8


class Stands(Struct, frozen=True):
    """How far the members of one group came by their counters, of which some had a call open."""

    group: int
    inside: dict[int, list[int]]
    """Number of the last call, which had not ended -> the ranks that had made it."""
    behind: dict[int, list[int]]
    """Number of the last call, which had ended -> the ranks that had not made the later ones of the others."""
    evidence: tuple[str, ...]


def cut_short(facts: Facts) -> Finding | None:
    """None where every dump is whole."""
    used = facts.case.dumps_used.filter(pl.col("rank").is_not_null())
    cut = used.filter(pl.col("truncated").fill_null(False)).sort("rank")
    if not cut.height:
        return None
    ranks = cut["rank"].to_list()
    missing, ids = missing_dumps(facts, ranks)
    stands = _by_counters(facts)
    suspects = _left_behind(stands)
    told = "".join(_told(facts, one) for one in stands[:_MOST_GROUPS])
    more = f" So it is in {len(stands) - _MOST_GROUPS} more groups." if len(stands) > _MOST_GROUPS else ""
    return Finding(
        hang=False,
        cause="undetermined",
        confidence="hypothesis",
        sentence=(
            f"Every call that is left had ended, but the {verb(ranks, 'dump', 'dumps')} of {ranks_words(ranks)} "
            f"{verb(ranks, 'ends', 'end')} early, and the last calls, in which a hang would stand, are lost."
            f"{told}{more}"
        ),
        culprits=suspects,
        doing=dict.fromkeys(
            suspects, "had not made the last call of the others, by the counters in its dump"
        ),
        evidence=tuple(
            dict.fromkeys(
                [*(i for one in stands[:_MOST_GROUPS] for i in one.evidence), *ids]
                or [dump_id(d) for d in cut["dump"].to_list()]
            )
        )[:_MOST_IDS],
        missing=(
            Missing(
                what="where each rank stands",
                how="stacks of all ranks (py-spy dump --pid PID), or their dumps once more, whole",
            ),
            *missing,
        ),
        unadvised=("anti_advice", "probes"),
    )


def _by_counters(facts: Facts) -> list[Stands]:
    """Per group in which a call had not ended by somebody's counters; the group with most ranks inside first.

    Not of groups with sends or receives, which each pair of ranks counts for itself. Who is behind a call that has
    ended elsewhere left its dump at another moment: no collective ends without it."""
    transfers = facts.case.calls.filter(pl.col("is_p2p"))["group"].unique()
    kept = facts.case.calls.filter(~pl.col("is_p2p")).group_by("rank", "group").agg(kept=pl.col("seq").max())
    numbered = pl.col("last_enqueued").is_not_null() & ~pl.col("group").is_in(transfers.implode())
    counted = facts.case.statuses.filter(numbered).sort("group", "rank")
    counted = counted.join(kept, on=["rank", "group"], how="left", maintain_order="left")
    # Counters lag: of a call that was kept, its record is the later word, and has it ended.
    ended_at = pl.max_horizontal("last_completed", "kept").fill_null(-1)
    found = []
    for (group,), rows in counted.group_by("group", maintain_order=True):
        assert isinstance(group, int)
        is_open = pl.col("last_enqueued") > ended_at
        inside, ended = rows.filter(is_open), rows.filter(~is_open)
        if inside.height:
            front = inside["last_enqueued"].max()
            done = rows.select(ended_at.max()).item()
            behind = ended.filter(pl.col("last_enqueued").is_between(done, front, closed="left"))
            ids = [group_id(d, group) for d in (*behind["dump"].head(2), *inside["dump"].head(2))]
            found.append(Stands(group, _ranks_by_number(inside), _ranks_by_number(behind), tuple(ids)))
    return sorted(found, key=lambda one: -sum(map(len, one.inside.values())))


def _ranks_by_number(rows: pl.DataFrame) -> dict[int, list[int]]:
    grouped = rows.group_by("last_enqueued").agg(pl.col("rank").sort()).sort("last_enqueued", descending=True)
    return dict(grouped.iter_rows())


def _told(facts: Facts, one: Stands) -> str:
    inside = "; ".join(
        f"{ranks_words(ranks)} had made call #{number}, which had not ended"
        for number, ranks in list(one.inside.items())[:_MOST_STANDS]
    )
    behind = "".join(
        f"; the last call of {ranks_words(ranks)} was #{number}, and had ended"
        for number, ranks in list(one.behind.items())[:_MOST_STANDS]
    )
    return f" By the counters in the dumps, in group {group_words(facts, one.group)}, {inside}{behind}."


def _left_behind(stands: list[Stands]) -> tuple[int, ...]:
    """Ranks for whom more others wait, and that have no call open themselves: they may wait for nobody."""
    waiting = {rank for one in stands for ranks in one.inside.values() for rank in ranks}
    suspects: set[int] = set()
    for one in stands:
        behind = {rank for ranks in one.behind.values() for rank in ranks}
        if len(behind) < sum(map(len, one.inside.values())):
            suspects |= behind - waiting
    return tuple(sorted(suspects))
