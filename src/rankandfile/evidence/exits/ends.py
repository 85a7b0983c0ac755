"""How processes ended: exit lists, error files of torchelastic, and what launchers, schedulers and kernels logged.

A process that its launcher ended after a failure, or that its own watchdog aborted, is a victim: its end is an echo.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from rankandfile.evidence.text.logs.event import clean
from rankandfile.evidence.text.logs.signals import by_number, by_words, of_exit
from rankandfile.evidence.text.logs.tracebacks import weigh
from rankandfile.model.events import event_id, log_schema
from rankandfile.model.ledger import Note

#: Largest exit list or error file that is read.
MOST = 16 << 20

Row = dict[str, Any]

_STATES = ("exited", "signalled", "running", "stopped", "ended")
#: Times beyond are no times: the year 2100, in seconds.
_LATEST = 4_102_444_800


def from_document(data: bytes, source: str) -> tuple[list[Row], list[Note]]:
    """Rows of an ``exits.json`` or of a torchelastic error file; none, and a note, for anything else."""
    if len(data) > MOST:
        return [], [Note(file=source, where="", what="larger than an exit list can be; not read")]
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        return [], [Note(file=source, where="", what=f"not JSON: {clean(str(error), 120)}")]
    if isinstance(document, list):
        rows = [_listed(item, source) for item in document if isinstance(item, dict)]
        left_out = len(document) - len(rows)
        if left_out:
            return rows, [Note(file=source, where="", what=f"{left_out} entries are no processes; left out")]
        return rows, []
    if isinstance(document, dict) and "message" in document:
        return [_error_file(document, source)], []
    return [], [Note(file=source, where="", what="neither a list of exits nor an error file")]


def row(source: str, kind: str, **values: Any) -> Row:
    """One end, with what is known of it."""
    found: Row = dict.fromkeys(log_schema("exits"))
    found.update(source=source, kind=kind, **values)
    return found


def _listed(item: dict[str, Any], source: str) -> Row:
    """One process of a list as the lab and `raf run` write it."""
    code = _integer(item.get("exitcode", item.get("exit_code")))
    signal = _signal(item.get("signal"))
    state = item.get("state")
    return _ended(
        row(
            source, "list", rank=_integer(item.get("rank")), local_rank=_integer(item.get("local_rank")),
            host=clean(item["host"], 200) if isinstance(item.get("host"), str) else None,
            pid=_integer(item.get("pid")), state=state if state in _STATES else None, time_ns=_since(item.get("since")),
        ),
        code, signal,
    )  # fmt: skip


def _since(value: Any) -> int | None:
    """When it was first seen in that state, in seconds since 1970."""
    known = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < _LATEST
    return int(value * 1000) * 1_000_000 if known else None


def _signal(value: Any) -> str | None:
    if isinstance(value, str):
        return by_words(clean(value, 40))
    number = _integer(value)
    return by_number(number) if number else None


_PREFIXED = re.compile(r"^(\w[\w.]*(?:Error|Exception|Interrupt|Exit)\w*)\s*:?\s*(.*)", re.DOTALL)


def _error_file(document: dict[str, Any], source: str) -> Row:
    """``error.json``: the exception of one worker; whose it is stands in the path (``.../attempt_0/3/error.json``)."""
    message = document["message"]
    inner = message if isinstance(message, dict) else {}
    extra = inner.get("extraInfo")
    extra = extra if isinstance(extra, dict) else {}
    text = inner.get("message", message if isinstance(message, str) else "")
    seconds = extra.get("timestamp")
    seconds = (
        int(seconds)
        if isinstance(seconds, (int, str)) and str(seconds).isdigit() and len(str(seconds)) < 12
        else None
    )
    traceback = str(extra.get("py_callstack", ""))[-4000:]
    match = _PREFIXED.match(str(text)[:4000])
    role = weigh(match[1], match[2]) if match else "origin"
    told = clean(str(text), 300) or clean(traceback.strip().rpartition("\n")[2], 300)
    place = re.search(r"/(\d{1,6})/error\.json$", f"/{source}")
    return row(
        source, "error_file", state="exited", role=role, error=told,
        local_rank=int(place[1]) if place else None,
        exit_code=_integer(inner.get("errorCode")), time_ns=seconds * 1_000_000_000 if seconds else None,
    )  # fmt: skip


_KINDS = {
    "child_failed": "child_failed",
    "agent_failure": "agent",
    "agent_unkillable": "agent",
    "launcher_exit": "launcher",
    "mpirun_exit": "mpirun",
    "kernel_oom": "kernel",
    "segfault": "kernel",
    "slurm_task_end": "slurm",
    "slurm_oom": "slurm",
    "pod_oom": "kubernetes",
    "ray_worker_exit": "ray",
    "ray_oom": "ray",
}
_SIGNAL_OF = {"kernel_oom": "SIGKILL", "pod_oom": "SIGKILL", "ray_oom": "SIGKILL", "segfault": "SIGSEGV"}


#: The launcher says whom it ends. -9 after that is a victim that did not listen, not a killed process.
_ENDED_BY_LAUNCHER = ("agent_closing", "agent_unkillable", "launcher_killing")


def from_events(events: pl.DataFrame, logs: pl.DataFrame) -> list[Row]:
    """Rows of the events that are about an end. Slurm's tasks are one row each."""
    closed = events.filter(
        pl.col("kind").cast(pl.String).is_in(_ENDED_BY_LAUNCHER) & pl.col("pid").is_not_null()
    )
    survivors = set(closed.select("log", "pid").iter_rows())
    sources = dict(logs.select("log", "source").iter_rows())
    rows: list[Row] = []
    ends = events.filter(pl.col("kind").cast(pl.String).is_in(list(_KINDS)))
    for event in ends.iter_rows(named=True):
        fields = msgspec.json.decode(event["fields"] or "{}")
        told = row(
            sources[event["log"]], _KINDS[event["kind"]], rank=event["rank"], local_rank=event["local_rank"],
            host=event["host"], pid=event["pid"], time_ns=event["time_ns"], line=event["line"],
            evidence=event_id(event["log"], event["line"]), error=fields.get("traceback") or None,
        )  # fmt: skip
        signal = event["signal"] or _SIGNAL_OF.get(event["kind"])
        if event["kind"] == "agent_unkillable":
            # It ignored SIGTERM for half a minute and then was killed: stuck, and no cause of anything.
            signal, told["error"] = "SIGKILL", "did not end on SIGTERM"
        if event["kind"] in ("kernel_oom", "slurm_oom", "pod_oom", "ray_oom"):
            told["error"], told["role"] = "out of memory", "origin"
        ended = _ended(told, event["exit_code"], signal)
        if (event["log"], event["pid"]) in survivors and ended["signal"] in ("SIGKILL", "SIGTERM"):
            ended["role"] = "echo"
        tasks = fields.get("tasks")
        rows += [{**ended, "task": task} for task in tasks] if tasks else [ended]
    return rows


def _ended(row: Row, code: int | None, signal: str | None) -> Row:
    """State, code and signal in one form: a code of 137 or -9 is SIGKILL, not a number."""
    if signal is None and code is not None:
        signal = of_exit(code)
    row["signal"] = signal
    row["exit_code"] = None if signal is not None else code
    if row["state"] in (None, "exited", "ended") and (signal is not None or code is not None):
        row["state"] = "signalled" if signal is not None else "exited"
    row["state"] = row["state"] or "ended"
    if row["role"] is None:
        row["role"] = role_of(signal)
    return row


#: What launchers send to survivors, and what a process's own watchdog ends it with.
_VICTIMS = ("SIGTERM", "SIGABRT", "SIGINT")


def role_of(signal: str | None) -> str:
    """A code alone is a fact: whether the exception behind it began there, its traceback says."""
    if signal is None:
        return "fact"
    return "echo" if signal in _VICTIMS else "origin"


def table(rows: Sequence[Row]) -> pl.DataFrame:
    schema = log_schema("exits")
    columns = {name: [row[name] for row in rows] for name in schema}
    return pl.DataFrame(
        {name: pl.Series(name, values, dtype=schema[name], strict=False) for name, values in columns.items()},
        schema=schema,
    )


def ranks_of_processes(rows: Sequence[Row]) -> dict[tuple[str, int], int]:
    """Whose a process is, where an exit list tells both."""
    return {
        (row["host"] or "", row["pid"]): row["rank"]
        for row in rows
        if row["rank"] is not None and row["pid"] is not None
    }


def listed(rows: Sequence[Row]) -> set[int]:
    """Ranks of which a list says how their processes stand: it has all that its writer knew of."""
    return {
        row["rank"] for row in rows if row["kind"] == "list" and row["rank"] is not None and row["rank"] >= 0
    }


def of_case(rows: Sequence[Row], events: pl.DataFrame, logs: pl.DataFrame) -> pl.DataFrame:
    """All ends of processes that exit lists, error files and logs tell, each with an id to cite."""
    owned = [_owned(row, events) if row["kind"] == "error_file" else row for row in rows]
    found = tie(table([*owned, *from_events(events, logs)]), events)
    number = pl.concat_str(pl.lit("X"), pl.int_range(pl.len()).cast(pl.String))
    return found.with_columns(pl.coalesce("evidence", number).alias("evidence"))


#: Folders of an error file's path, its name included, that are surely one run's: `none_x1y2/attempt_0/3/error.json`.
_SURE = 4


def _owned(row: Row, events: pl.DataFrame) -> Row:
    """An error file with the rank that torchrun's table gives for it. Its local rank alone may be of any host."""
    mine = row["source"].replace("!/", "/").split("/")[-_SURE:]
    if row["rank"] is not None or len(mine) < _SURE:
        return row
    failed = events.filter((pl.col("kind").cast(pl.String) == "child_failed") & pl.col("rank").is_not_null())
    owners = {
        (event["rank"], event["host"])
        for event in failed.iter_rows(named=True)
        if str(msgspec.json.decode(event["fields"] or "{}").get("error_file")).split("/")[-_SURE:] == mine
    }
    if len(owners) != 1:
        return row
    rank, host = owners.pop()
    return {**row, "rank": rank, "host": row["host"] or host}


def tie(exits: pl.DataFrame, events: pl.DataFrame) -> pl.DataFrame:
    """Give exits that name a process only the rank that any log or list tells for it."""
    known = (
        pl.concat(
            [
                exits.select("host", "pid", "rank"),
                events.filter(~pl.col("shape").cast(pl.String).str.starts_with("K")).select(
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
    crowded = tasks.group_by("host").agg(pl.col("task").n_unique().alias("tasks"))
    if crowded.filter(pl.col("tasks") > 1).height == 0 or tasks["task"].max() != ranks.max():
        return exits
    return exits.with_columns(pl.coalesce("rank", "task").alias("rank"))


def read(path: Path, source: str) -> tuple[list[Row], list[Note]]:
    """An exit list or an error file. Raises OSError only."""
    with path.open("rb") as file:
        return from_document(file.read(MOST + 1), source)


def _integer(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 31 else None
