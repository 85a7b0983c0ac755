"""The different calls of a job, numbered: what they asked for, from where, in which family of groups.

Sizes that may legally differ do not make a call another one; ranks that do the same then share a row of the score.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from rankandfile.model.pictures import Frames, Kinds
from rankandfile.reason import lookup
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.activity import CodePlace, is_library

#: A cell has two bytes: kinds beyond this many share the last number.
MOST_KINDS = 16_000
#: Stacks are kept for this many kinds, the most frequent ones.
_MOST_STACKS = 1_000
_MOST_FRAMES_OF_A_STACK = 48


def numbered(facts: Facts) -> tuple[pl.DataFrame, pl.DataFrame]:
    """`working.calls` with a column `cell` (see `model.pictures`), and one row per kind, most frequent first."""
    calls = facts.call_table.calls
    families = facts.membership.families
    groups = calls["group"].to_numpy()
    family_of = np.zeros(int(groups.max()) + 1 if len(groups) else 1, np.uint64)
    for group, family in families.items():
        if group < len(family_of):
            family_of[group] = family
    with np.errstate(over="ignore"):
        # A hash of 64 bits: two of some thousand kinds fall together about never, and then look alike.
        key = calls["token"].to_numpy() * np.uint64(0x9E3779B97F4A7C15)
        key ^= (family_of[groups] + np.uint64(1)) * np.uint64(0xC2B2AE3D27D4EB4F)
    keyed = calls.with_columns(pl.Series("key", key))
    table = (
        keyed.group_by("key", maintain_order=True)
        .agg(pl.len().alias("count"), pl.col("terms", "site", "group", "shape", "stack", "record").first())
        .sort("count", descending=True, maintain_order=True)
        .with_row_index("number")
    )
    numbers = table.select("key", pl.col("number").clip(0, MOST_KINDS - 1))
    keyed = keyed.join(numbers, on="key", how="left", maintain_order="left")
    cell = (1 + 4 * pl.col("number") + pl.col("state").cast(pl.UInt32)).cast(pl.UInt16)
    return keyed.with_columns(cell.alias("cell")).drop("key", "number"), table.head(MOST_KINDS)


def described(facts: Facts, table: pl.DataFrame) -> tuple[Kinds, Frames]:
    """The kinds in words, and the frames that they refer to."""
    stacks = _stacks(facts, table.head(_MOST_STACKS)["stack"])
    sites = table["site"].drop_nulls().to_list()
    wanted = sorted({*sites, *(frame for frames in stacks.values() for frame in frames)})
    frames, place = _frames(facts, wanted)
    kinds = Kinds()
    names: dict[int, str] = {}
    for row in table.iter_rows(named=True):
        family = facts.membership.families.get(row["group"], row["group"])
        if family not in names:
            names[family] = _family_name(facts, family)
        kinds.op.append(lookup.op_of(facts, row))
        kinds.group.append(names[family])
        kinds.detail.append(lookup.size_words(facts, row)[:120] if row["number"] < _MOST_STACKS else "")
        kinds.site.append(place.get(row["site"]))
        stack = stacks.get(row["stack"], []) if row["number"] < _MOST_STACKS else []
        kinds.stack.append([place[frame] for frame in stack if frame in place])
    return kinds, frames


def _family_name(facts: Facts, group: int) -> str:
    row = facts.case.groups.filter(pl.col("group") == group).row(0, named=True)
    desc = row["desc"]
    return str(desc if desc and desc != "undefined" else row["name"])


def _stacks(facts: Facts, wanted: pl.Series) -> dict[int, list[int]]:
    rows = facts.case.stacks.filter(pl.col("stack").is_in(wanted.drop_nulls().implode()))
    return {
        stack: list(frames[:_MOST_FRAMES_OF_A_STACK])
        for stack, frames in rows.select("stack", "frames").iter_rows()
    }


def _frames(facts: Facts, wanted: list[int]) -> tuple[Frames, dict[int, int]]:
    rows = facts.case.frames.filter(pl.col("frame").is_in(wanted))
    frames, place = Frames(), {}
    for number, function, file, line, is_torch in rows.select(
        "frame", "function", "file", "line", "is_torch"
    ).iter_rows():
        place[number] = len(frames.function)
        frames.function.append(function or "")
        frames.file.append(file or "")
        frames.line.append(line or 0)
        frames.library.append(is_library(CodePlace(function or "", file or "", line or 0, bool(is_torch))))
    return frames, place
