"""Tables of a case as a person or another tool reads them: numbers of other tables replaced by what they mean."""

from __future__ import annotations

import polars as pl

from rankandfile.model.case import Case, group_label
from rankandfile.model.progress import progress
from rankandfile.model.ranks import format_ranks

#: Columns of `flat_calls` that fit a terminal, in this order.
BRIEF = ["rank", "group", "seq", "op", "state", "sizes", "site", "record"]


def group_names(case: Case) -> pl.DataFrame:
    """Each group's number and what a person would call it."""
    labels = [
        group_label(row["name"], row["desc"], row["members"]) for row in case.groups.iter_rows(named=True)
    ]
    return pl.DataFrame({"group": case.groups["group"], "group_label": pl.Series(labels, dtype=pl.String)})


def _size_text(sizes: str, dtypes: str) -> pl.Expr:
    tensors = pl.col(sizes).list.eval(
        "[" + pl.element().list.eval(pl.element().cast(pl.String)).list.join(",") + "]"
    )
    return (
        tensors.list.join(" ") + pl.lit(" ") + pl.col(dtypes).list.unique(maintain_order=True).list.join(",")
    )


def shape_texts(case: Case) -> pl.DataFrame:
    """Each shape as text: ``[512,1024] BFloat16``, with the output's where it differs."""
    ins = _size_text("in_sizes", "in_dtypes").str.strip_chars()
    outs = _size_text("out_sizes", "out_dtypes").str.strip_chars()
    same = (ins == outs) | (pl.col("out_sizes").list.len() == 0)
    return case.shapes.select(
        "shape", pl.when(same).then(ins).otherwise(ins + pl.lit(" -> ") + outs).alias("sizes")
    )


def sites(case: Case) -> pl.DataFrame:
    """Each frame as ``file.py:88`` and its function."""
    return case.frames.select(pl.col("frame").alias("site"), "file", "line", "function")


def stack_texts(case: Case) -> pl.DataFrame:
    """Each stack as lines ``function  file:line``, innermost first."""
    frame = case.frames.select(
        "frame",
        (pl.col("function") + "  " + pl.col("file") + ":" + pl.col("line").cast(pl.String)).alias("text"),
    )
    return (
        case.stacks.select("stack", "frames")
        .explode("frames")
        .join(frame, left_on="frames", right_on="frame", how="left", maintain_order="left")
        .group_by("stack", maintain_order=True)
        .agg(pl.col("text").str.join("\n"))
    )


def flat_calls(case: Case, calls: pl.DataFrame, stacks: bool = False) -> pl.DataFrame:
    """The calls with group, sizes and call site spelled out; one row a call, in the order given."""
    found = (
        calls.join(group_names(case), on="group", how="left", maintain_order="left")
        .join(shape_texts(case), on="shape", how="left", maintain_order="left")
        .join(sites(case), on="site", how="left", maintain_order="left")
        .join(case.dumps.select("dump", "source"), on="dump", how="left", maintain_order="left")
    )
    if stacks:
        found = found.join(stack_texts(case), on="stack", how="left", maintain_order="left")
    name = pl.col("file").str.extract(r"([^/\\]+)$")
    columns = [
        pl.col("rank"),
        pl.col("group_label").alias("group"),
        pl.col("seq"),
        pl.col("p2p_seq"),
        pl.col("op_id"),
        pl.col("op").cast(pl.String),
        pl.col("name").cast(pl.String),
        pl.col("is_p2p"),
        pl.col("src"),
        pl.col("dst"),
        pl.col("root"),
        pl.col("sizes"),
        pl.col("state").cast(pl.String),
        pl.col("retired"),
        pl.col("created_ns"),
        pl.col("started_ns"),
        pl.col("completed_ns"),
        pl.col("duration_ms"),
        (name + ":" + pl.col("line").cast(pl.String)).alias("site"),
        pl.col("file"),
        pl.col("line"),
        pl.col("function"),
        pl.col("thread").cast(pl.String),
        pl.col("timeout_ms"),
        pl.col("record"),
        pl.col("source"),
    ]
    return found.select(*columns, *([pl.col("text").alias("stack")] if stacks else []))


def flat_groups(case: Case) -> pl.DataFrame:
    """One row a group: who is in it, how that is known, and what its ranks left of it."""
    kept = case.calls.group_by("group").agg(
        pl.len().alias("calls"),
        pl.col("rank").n_unique().alias("ranks_seen"),
        pl.col("seq").filter(~pl.col("is_p2p")).min().alias("first_seq"),
        pl.col("seq").filter(~pl.col("is_p2p")).max().alias("last_seq"),
    )
    members = [
        None if members is None else format_ranks(members) for members in case.groups["members"].to_list()
    ]
    return (
        case.groups.with_columns(
            pl.Series("ranks", members, dtype=pl.String), pl.col("members").list.len().alias("size")
        )
        .join(kept, on="group", how="left", maintain_order="left")
        .select(
            "group",
            "name",
            "desc",
            "ranks",
            "size",
            pl.col("members_from").cast(pl.String),
            pl.col("ranks_seen").fill_null(0),
            pl.col("calls").fill_null(0),
            "first_seq",
            "last_seq",
        )
    )


def flat_progress(case: Case) -> pl.DataFrame:
    """`rankandfile.model.progress` with the groups' names; only columns that say something."""
    found = progress(case).join(group_names(case), on="group", how="left", maintain_order="left")
    said = [
        name
        for name in found.columns
        if name.startswith("reported_") and found[name].null_count() < found.height
    ]
    return found.select(
        "rank",
        "group",
        "group_label",
        "kind",
        "calls",
        "first_kept",
        "last_enqueued",
        "last_started",
        "last_completed",
        "oldest_unfinished",
        "unfinished",
        *said,
    )


def side_by_side(case: Case, calls: pl.DataFrame, stacks: bool = False) -> pl.DataFrame:
    """One row per group and sequence number, one column per rank: who called what there, and from where."""
    flat = flat_calls(case, calls, stacks)
    number = pl.when("is_p2p").then(pl.col("p2p_seq")).otherwise(pl.col("seq"))
    cell = pl.concat_str(
        pl.when("is_p2p").then(pl.col("name").str.extract(r":(.*)$", 1)).otherwise(pl.col("op")),
        pl.col("sizes").replace("", None),
        pl.col("state").replace({"completed": None}),
        pl.col("site"),
        *([pl.col("stack")] if stacks else []),
        separator="\n" if stacks else " ",
        ignore_nulls=True,
    )
    keyed = flat.with_columns(
        calls["group"].alias("_group"),
        number.alias("seq"),
        pl.when("is_p2p").then(pl.lit("p2p")).otherwise(pl.lit("collective")).alias("kind"),
        cell.alias("cell"),
    )
    ranks = [str(rank) for rank in keyed["rank"].unique().sort()]
    wide = (
        keyed.group_by("_group", "group", "kind", "seq", "rank", maintain_order=True)
        .agg(pl.col("cell").str.join(" | "))
        .with_columns(pl.col("rank").cast(pl.String))
        .pivot("rank", index=["_group", "group", "kind", "seq"], values="cell")
        .sort("_group", "kind", "seq")
    )
    return wide.select("group", "kind", "seq", *ranks)
