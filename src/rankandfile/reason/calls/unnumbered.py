"""The call that the members of a group are in, where its calls cannot be numbered.

A collective that needs all members ends for nobody before all have come. So the oldest that is unfinished is one and
the same call on every member that has any unfinished, and a member that has none has not come to it. Only if it came
after the others' dumps had been written, and the call ended for it, would it look the same: then nothing is known of
it. Where the members' oldest calls differ, one may have ended and not been seen to: then they are left alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from rankandfile.model.case import Case

from .contracts import Terms, contract_of
from .kinds import COLLECTIVE

LAST = 0
"""The slot of that call. Real ones begin at 1."""


def with_last_calls(
    case: Case, calls: pl.DataFrame, interned: Sequence[Terms], loose: frozenset[int]
) -> tuple[pl.DataFrame, frozenset[int], dict[tuple[int, int], bool]]:
    """The calls, the groups that stay without any slot, and of each (group, rank) that is in no unfinished call
    whether that proves that it has not come."""
    made = calls.filter((pl.col("kind") == COLLECTIVE) & pl.col("group").is_in(list(loose)))
    stuck = made.filter("open").group_by("rank", "group", maintain_order=True).first()
    needs_all = [i for i, t in enumerate(interned) if _needs_all(t)]
    one_and_all = pl.col("terms").is_in(needs_all) & (pl.col("terms").n_unique().over("group") == 1)
    others = stuck.filter(~one_and_all)["group"]
    stuck = stuck.filter(~pl.col("group").is_in(others.implode()))
    if not stuck.height:
        return calls, loose, {}
    marks = stuck.select("rank", "record", pl.lit(LAST, calls.schema["slot"]).alias("last_call"))
    marked = calls.join(marks, on=["rank", "record"], how="left", maintain_order="left").with_columns(
        pl.coalesce("slot", "last_call").alias("slot")
    )
    numbered = frozenset(stuck["group"].to_list())
    return marked.drop("last_call"), loose - numbered, _not_in_it(case, made, stuck)


def _needs_all(terms: Terms) -> bool:
    contract = contract_of(terms.op)
    return contract.early == "nobody" and contract.agree != "name"


def _not_in_it(case: Case, made: pl.DataFrame, stuck: pl.DataFrame) -> dict[tuple[int, int], bool]:
    """Members with an earlier call on the group in their rings: a later one would be there, too. It proves nothing
    where the last was made after the last moment that the dumps of those in it tell of."""
    until = stuck.join(case.dumps_used.select("dump", "last_ns"), on="dump", how="left")
    until = until.group_by("group").agg(
        pl.when(pl.col("last_ns").count() == pl.len()).then(pl.col("last_ns").min())
    )
    rest = made.join(stuck, on=["group", "rank"], how="anti").join(until, on="group")
    lasts = rest.group_by("group", "rank").agg(
        (pl.col("created_ns").max() < pl.col("last_ns").first()).fill_null(False).alias("before")
    )
    return {(group, rank): before for group, rank, before in lasts.iter_rows()}
