"""The table `exits`: what exit lists, error files, leftovers and logs tell of how processes ended."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import polars as pl

from rankandfile.evidence.exits.ends import End
from rankandfile.model.events import event_id, log_schema
from rankandfile.model.log_shapes import OF_THE_MACHINE

_KINDS = {
    "child_failed": "child_failed",
    "agent_failure": "agent",
    "agent_unkillable": "agent",
    "launcher_exit": "launcher",
    "mpirun_exit": "mpirun",
    "mpi_abort": "mpirun",
    "process_ended": "launcher",
    "kernel_oom": "kernel",
    "segfault": "kernel",
    "slurm_task_end": "slurm",
    "slurm_oom": "slurm",
    "pod_oom": "kubernetes",
    "pod_ended": "kubernetes",
    "pod_evicted": "kubernetes",
    "ray_worker_exit": "ray",
    "ray_oom": "ray",
}
_SIGNAL_OF = {"kernel_oom": "SIGKILL", "pod_oom": "SIGKILL", "ray_oom": "SIGKILL", "segfault": "SIGSEGV"}


#: How the error of an end begins that a cluster brought about.
TAKEN = "taken away by its cluster"
#: And of one that somebody brought about who cancelled the whole job.
CANCELLED = "the job was cancelled"
#: The launcher says whom it ends. -9 after that is a victim that did not listen, not a killed process.
_ENDED_BY_LAUNCHER = ("agent_closing", "agent_unkillable", "launcher_killing")


def from_events(events: pl.DataFrame, logs: pl.DataFrame) -> list[End]:
    """The ends that the events of logs tell. Slurm's tasks are one end each."""
    closed = events.filter(
        pl.col("kind").cast(pl.String).is_in(_ENDED_BY_LAUNCHER) & pl.col("pid").is_not_null()
    )
    survivors = set(closed.select("log", "pid").iter_rows())
    sources = dict(logs.select("log", "source").iter_rows())
    found: list[End] = []
    for event in events.filter(pl.col("kind").cast(pl.String).is_in(list(_KINDS))).iter_rows(named=True):
        fields = msgspec.json.decode(event["fields"] or "{}")
        end = End(
            source=sources[event["log"]], kind=_KINDS[event["kind"]], rank=event["rank"],
            local_rank=event["local_rank"], host=event["host"], pid=event["pid"], time_ns=event["time_ns"],
            line=event["line"], evidence=event_id(event["log"], event["line"]),
            error=fields.get("traceback") or None,
        )  # fmt: skip
        signal = event["signal"] or _SIGNAL_OF.get(event["kind"])
        if event["kind"] == "agent_unkillable":
            # It ignored SIGTERM for half a minute and then was killed: stuck, and no cause of anything.
            signal, end.error = "SIGKILL", "did not end on SIGTERM"
        if event["kind"] in ("kernel_oom", "slurm_oom", "pod_oom", "ray_oom"):
            end.error, end.role = "out of memory", "origin"
        if event["kind"] in ("pod_ended", "pod_evicted"):
            why = fields.get("reason") or f"its node ran low on {fields.get('resource')}"
            signal, end.error, end.role = "SIGTERM", f"{TAKEN}: {why}", "origin"
        end.by(event["exit_code"], signal)
        if event["role"] == "echo":
            end.role, end.error = "echo", CANCELLED
        if (event["log"], event["pid"]) in survivors and end.signal in ("SIGKILL", "SIGTERM"):
            end.role = "echo"
        tasks = fields.get("tasks")
        found += [msgspec.structs.replace(end, task=task) for task in tasks] if tasks else [end]
    return found


def table(ends: Sequence[End]) -> pl.DataFrame:
    schema = log_schema("exits")
    columns = {name: [getattr(end, name) for end in ends] for name in schema}
    return pl.DataFrame(
        {name: pl.Series(name, values, dtype=schema[name], strict=False) for name, values in columns.items()},
        schema=schema,
    )


def ranks_of_processes(ends: Sequence[End]) -> dict[tuple[str, int], int]:
    """Whose a process is, where an exit list tells both."""
    return {
        (end.host or "", end.pid): end.rank for end in ends if end.rank is not None and end.pid is not None
    }


def listed(ends: Sequence[End]) -> set[int]:
    """Ranks of which a list says how their processes stand: it has all that its writer knew of."""
    return {end.rank for end in ends if end.kind == "list" and end.rank is not None and end.rank >= 0}


def of_case(ends: Sequence[End], events: pl.DataFrame, logs: pl.DataFrame) -> pl.DataFrame:
    """All ends of processes that exit lists, error files and logs tell, each with an id to cite."""
    _own(ends, events)
    found = tie(table([*ends, *from_events(events, logs)]), events)
    number = pl.concat_str(pl.lit("X"), pl.int_range(pl.len()).cast(pl.String))
    return found.with_columns(pl.coalesce("evidence", number).alias("evidence"))


#: Folders of an error file's path, its name included, that are surely one run's: `none_x1y2/attempt_0/3/error.json`.
_SURE = 4


def _own(ends: Sequence[End], events: pl.DataFrame) -> None:
    """Give error files the rank that torchrun's table gives for them. Their local rank alone may be of any host."""
    lacking = [end for end in ends if end.kind == "error_file" and end.rank is None]
    if not lacking:
        return
    failed = events.filter((pl.col("kind").cast(pl.String) == "child_failed") & pl.col("rank").is_not_null())
    owners: dict[tuple[str, ...], set[tuple[int, str | None]]] = {}
    for rank, host, fields in failed.select("rank", "host", "fields").iter_rows():
        path = str(msgspec.json.decode(fields or "{}").get("error_file"))
        owners.setdefault(_tail(path), set()).add((rank, host))
    for end in lacking:
        mine = _tail(end.source.replace("!/", "/"))
        found = owners.get(mine, set())
        if len(mine) == _SURE and len(found) == 1:
            ((end.rank, host),) = found
            end.host = end.host or host


def _tail(path: str) -> tuple[str, ...]:
    return tuple(path.split("/")[-_SURE:])


def tie(exits: pl.DataFrame, events: pl.DataFrame) -> pl.DataFrame:
    """Give exits that name a process only the rank that any log or list tells for it."""
    known = (
        pl.concat(
            [
                exits.select("host", "pid", "rank"),
                events.filter(~pl.col("shape").cast(pl.String).str.contains(OF_THE_MACHINE)).select(
                    "host", "pid", "rank"
                ),
            ]
        )
        .drop_nulls(["pid", "rank"])
        .group_by("pid")
        .agg(pl.col("rank").unique().alias("ranks"), pl.col("host").drop_nulls().unique().alias("hosts"))
        .filter(pl.col("ranks").list.len() == 1)
    )
    joined = exits.join(known, on="pid", how="left", maintain_order="left")
    agree = (
        pl.col("host").is_null()
        | (pl.col("hosts").list.len() == 0)
        | pl.col("hosts").list.contains(pl.col("host"))
    )
    if pl.concat([exits["host"], events["host"]]).drop_nulls().n_unique() > 1:
        # Every host counts its processes from one; a core file that does not say where it was written is nobody's.
        agree &= (pl.col("kind").cast(pl.String) != "core") | pl.col("host").is_not_null()
    tied = joined.with_columns(
        pl.coalesce("rank", pl.when(agree).then(pl.col("ranks").list.first())).alias("rank")
    ).select(exits.columns)
    return tasks_as_ranks(tied, events)


def tasks_as_ranks(exits: pl.DataFrame, events: pl.DataFrame) -> pl.DataFrame:
    """Give Slurm's tasks their ranks where a task can be nothing else.

    One task per node (a launcher that starts the ranks) is as usual as one per rank. Tasks are ranks if a host has
    several of them and their numbers reach the highest rank that anything tells of.
    """
    tasks = exits.filter(pl.col("task").is_not_null())
    ranks = pl.concat([exits["rank"], events["rank"]]).drop_nulls()
    if not tasks.height or not len(ranks):
        return exits
    label = pl.col("fields").str.json_path_match("$.task").cast(pl.Int32, strict=False)
    labelled = events.filter(label.is_not_null() & pl.col("rank").is_not_null())
    if labelled.select(
        ((label == pl.col("rank")).all() & (pl.col("rank").max() > 0)).fill_null(False)
    ).item():
        # srun's label of each line is the rank that the line tells.
        return exits.with_columns(pl.coalesce("rank", "task").alias("rank"))
    crowded = tasks.group_by("host").agg(pl.col("task").n_unique().alias("tasks"))
    if crowded.filter(pl.col("tasks") > 1).height == 0 or tasks["task"].max() != ranks.max():
        return exits
    return exits.with_columns(pl.coalesce("rank", "task").alias("rank"))
