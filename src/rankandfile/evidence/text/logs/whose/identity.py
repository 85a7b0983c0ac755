"""Whose line is it: rank, host and process of an event, tied together across all logs of a job.

A file that is one rank's tells the rank of all its lines that name none. A line that has both a rank and a process
(NCCL's start of the largest communicator, torchrun's table, a prefix beside another) tells it for every other line
of that process. What is contradicted stays without a rank: an event on the wrong rank accuses an innocent one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import polars as pl

from rankandfile.evidence.owners.known_processes import KnownProcesses
from rankandfile.evidence.text.logs.whose.given import given
from rankandfile.model.log_shapes import OF_ANOTHER_PROCESS

_PREFIX = "prefix"
#: What the packed events of a file hold that may be of others than the rank of its name.
OF_OTHERS = (b"prefix", b"last_said", b"nccl_init")
"""Where the rank of a line comes from that a launcher wrote before it."""


def of_others(rank: int, columns: Mapping[str, Sequence[Any]]) -> bool:
    """Whether a file whose path seems to tell a rank holds other ranks' output: `node-3.log` has that of a whole host,
    and what a launcher writes before its lines says so, or the names by which several ranks speak in it."""
    if sum(kind == "last_said" for kind in columns.get("kind", ())) > 1:
        return True
    setups = zip(columns.get("kind", ()), columns.get("host", ()), columns.get("pid", ()), strict=True)
    if len({(host, pid) for kind, host, pid in setups if kind == "nccl_init" and pid is not None}) > 1:
        return True
    pairs = zip(columns.get("rank", ()), columns.get("rank_from", ()), strict=True)
    said = Counter(other for other, how in pairs if how == _PREFIX)
    return bool(said) and 2 * said[rank] <= said.total()


def only_speaker(columns: Mapping[str, Sequence[Any]]) -> int | None:
    """The rank that alone speaks in a log, if no other line of it tells another."""
    rows = zip(columns.get("kind", ()), columns.get("rank", ()), columns.get("fields", ()), strict=True)
    said = {rank for _, rank, _ in rows if rank is not None}
    for kind, fields in zip(columns.get("kind", ()), columns.get("fields", ()), strict=True):
        if (
            kind == "last_said"
            and (speaker := msgspec.json.decode(fields or "{}").get("speaker")) is not None
        ):
            said.add(speaker)
    return said.pop() if len(said) == 1 else None


def own(events: pl.DataFrame, logs: pl.DataFrame) -> pl.DataFrame:
    """Lines without a rank of their own, in a file that is one rank's output."""
    owners = logs.select("log", pl.col("rank").alias("owner"), pl.col("host").alias("owner_host"))
    joined = events.join(owners, on="log", how="left", maintain_order="left")
    # What the kernel, the scheduler or an agent says is about another process than the one that owns the file.
    theirs = pl.col("shape").cast(pl.String).str.contains(OF_ANOTHER_PROCESS).fill_null(False)
    kernels = pl.col("shape").cast(pl.String).is_in(["K4", "K5", "K6", "K7"])
    weak = pl.col("rank").is_null() | pl.col("rank_from").cast(pl.String).is_in(["first_group", "app"])
    lacks = weak & pl.col("owner").is_not_null() & ~theirs
    return joined.with_columns(
        *given(lacks, "owner", "file"),
        pl.when(~theirs | kernels).then(pl.coalesce("host", "owner_host")).otherwise("host").alias("host"),
    ).select(events.columns)


def without_tags_of_agents(events: pl.DataFrame) -> pl.DataFrame:
    """Where MPI started an agent on each host, and that the ranks, its tag is no rank: some line there says so."""
    tag = pl.col("fields").str.json_path_match("$.task").cast(pl.Int32, strict=False)
    how = pl.col("rank_from").cast(pl.String)
    lies = events.filter(
        tag.is_not_null() & (tag != pl.col("rank")) & how.is_in(["prefix", "line", "default_group"])
    )
    wrong = (how == "mpirun") & pl.col("log").is_in(lies["log"].unique().implode())
    return (
        events.with_columns(
            *given(wrong, None, None),
        )
        if lies.height
        else events
    )


def with_tasks_of_ranks(events: pl.DataFrame) -> pl.DataFrame:
    """Where a launcher labels lines with the number of a task (`srun -l`), and all lines of its file that tell a rank
    tell that number: whoever wrote a line without a rank is the rank of its label."""
    task = pl.col("fields").str.json_path_match("$.task").cast(pl.Int32, strict=False)
    how = pl.col("rank_from").cast(pl.String)
    speaker = pl.col("fields").str.json_path_match("$.speaker").cast(pl.Int32, strict=False)
    told = pl.when(how.is_in(["prefix", "line", "default_group", "app"])).then("rank").otherwise(speaker)
    both = events.with_columns(told.alias("rank")).filter(task.is_not_null() & pl.col("rank").is_not_null())
    agreed = both.group_by("log").agg(
        (task == pl.col("rank")).all().alias("all"), pl.col("rank").max().alias("most")
    )
    logs = agreed.filter(pl.col("all") & (pl.col("most") > 0))["log"]
    lacks = pl.col("rank").is_null() & task.is_not_null() & pl.col("log").is_in(logs.implode())
    return (
        events.with_columns(
            *given(lacks, task, "prefix"),
        )
        if logs.len()
        else events
    )


def with_local_ranks(events: pl.DataFrame, machine: int | None) -> pl.DataFrame:
    """Where torchrun labels lines with local ranks (`[default2]:`), and all lines of its file that tell a rank as well
    are as far from it, as those of one machine are: whoever wrote a line without a rank is as far from its label.
    `machine`: the log of a machine that has all ranks of the job."""
    sure = pl.col("rank_from").cast(pl.String).is_in([_PREFIX, "line"])
    both = events.filter(sure & pl.col("local_rank").is_not_null()).with_columns(
        (pl.col("rank") - pl.col("local_rank")).alias("before")
    )
    told = both.group_by("log").agg(
        pl.col("before").unique(), pl.col("local_rank").n_unique().alias("several")
    )
    first = told.filter((pl.col("before").list.len() == 1) & (pl.col("several") > 1)).select(
        "log", pl.col("before").list.first()
    )
    if machine is not None and machine not in told["log"]:
        first = pl.concat([first, pl.DataFrame({"log": [machine], "before": [0]}, schema=first.schema)])
    if first.is_empty():
        return events
    lacks = pl.col("rank").is_null() & pl.col("local_rank").is_not_null() & pl.col("before").is_not_null()
    return (
        events.join(first, on="log", how="left", maintain_order="left")
        .with_columns(
            *given(lacks, pl.col("before") + pl.col("local_rank"), _PREFIX),
        )
        .select(events.columns)
    )


def with_workers_of_ranks(events: pl.DataFrame) -> pl.DataFrame:
    """Where a program numbers its workers, several of them log exceptions, and one of these tells that it lost a peer
    in the job's communication, each of them is a process of the job: its number is its rank."""
    worker = pl.col("fields").str.json_path_match("$.logged_by").cast(pl.Int32, strict=False)
    rows = events.filter(worker.is_not_null()).with_columns(worker.alias("worker"))
    told = rows.group_by("log").agg(
        pl.col("worker")
        .filter(pl.col("role").cast(pl.String).is_in(["echo", "messenger"]))
        .n_unique()
        .alias("met"),
        pl.col("worker").n_unique().alias("several"),
    )
    logs = told.filter((pl.col("met") > 0) & (pl.col("several") > 1))["log"]
    lacks = pl.col("rank").is_null() & worker.is_not_null() & pl.col("log").is_in(logs.implode())
    return (
        events.with_columns(
            *given(lacks, worker, "app"),
        )
        if logs.len()
        else events
    )


def tie(events: pl.DataFrame, processes: KnownProcesses) -> pl.DataFrame:
    """Ranks of the lines that name a process only. `processes`: what other lines tell of them."""
    told = pl.DataFrame(
        [(host or None, pid, rank) for (host, pid), rank in processes.ranks.items()],
        schema=events.select("host", "pid", "rank").schema,
        orient="row",
    )
    known = _known(events, told)
    if not known.height:
        return events
    with_host = known.filter(pl.col("host").is_not_null()).select(
        "host", "pid", pl.col("rank").alias("by_both")
    )
    alone = (
        known.group_by("pid")
        .agg(pl.col("rank").unique().alias("ranks"), pl.col("host").drop_nulls().len().alias("placed"))
        .filter(pl.col("ranks").list.len() == 1)
        .select("pid", pl.col("ranks").list.first().alias("by_pid"), "placed")
    )
    joined = events.join(with_host, on=["host", "pid"], how="left", maintain_order="left").join(
        alone, on="pid", how="left", maintain_order="left"
    )
    # A bare process id serves only where no host contradicts: containers count from one each.
    unplaced = pl.col("host").is_null() | (pl.col("placed") == 0)
    found = pl.coalesce("by_both", pl.when(unplaced).then("by_pid"))
    lacks = pl.col("rank").is_null() & found.is_not_null()
    return joined.with_columns(
        *given(lacks, found, "process"),
    ).select(events.columns)


def _known(events: pl.DataFrame, told: pl.DataFrame) -> pl.DataFrame:
    """(host, pid) -> rank, from lines that say both and from NCCL's start of the communicator of the whole job."""
    sure = pl.col("rank_from").cast(pl.String).is_in(["prefix", "line", "file"])
    # A process id in a K or P3 line is of another process than the line's writer.
    said = events.filter(
        sure & pl.col("pid").is_not_null() & pl.col("shape").cast(pl.String).str.contains("^(N|W|H|P4|P7|R5)")
    ).select("host", "pid", "rank")
    said = pl.concat([said, told])
    starts = events.filter(pl.col("kind") == "nccl_init").select(
        "host", "pid", "group_rank",
        pl.col("fields").str.json_path_match("$.nranks").cast(pl.Int64, strict=False).alias("nranks"),
    )  # fmt: skip
    world = starts["nranks"].max()
    if world is None:
        return _unambiguous(said.drop_nulls(["pid", "rank"]), ["host", "pid"])
    everyone = starts.filter((pl.col("nranks") == world) & pl.col("pid").is_not_null()).select(
        "host", "pid", pl.col("group_rank").alias("rank")
    )
    # Only a communicator that is larger than any other, and seen from all its ranks, is surely the job's.
    if everyone.select(pl.col("rank").n_unique()).item() != world:
        everyone = everyone.clear()
    return _unambiguous(pl.concat([said, everyone]).drop_nulls(["pid", "rank"]), ["host", "pid"])


def _unambiguous(pairs: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    return (
        pairs.group_by(by, maintain_order=True)
        .agg(pl.col("rank").unique().alias("ranks"))
        .filter(pl.col("ranks").list.len() == 1)
        .select(*by, pl.col("ranks").list.first().alias("rank"))
    )
