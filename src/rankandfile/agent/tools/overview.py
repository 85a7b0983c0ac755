"""The symptom: what is known of the job, what evidence there is, and who complained of what."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from rankandfile.agent.bench import Bench
from rankandfile.agent.result import Line, line, who
from rankandfile.agent.tool import Arguments, Tool
from rankandfile.model.events import event_id
from rankandfile.model.ledger import dump_id

_MOST_KINDS = 8
_MOST_NOTES = 20
_MOST_EXITS = 8


def overview(bench: Bench, _: Arguments) -> Iterator[Line]:
    """What is known of the job and which evidence there is: ranks, groups, dumps, logs, ends of processes, what could
    not be read. Begin here."""
    case, job = bench.case, bench.diagnosis.job
    size = f"{job.world_size} ranks" if job.world_size else "an unknown number of ranks"
    first = tuple(dump_id(dump) for dump in case.dumps_used["dump"].head(1))
    yield line(
        f"The job has {size}; {job.calls} calls in {_counted(job.group_count, 'group')} were recorded.",
        *first,
    )
    if job.dumps:
        backends = " and ".join(job.backends) or "an unknown backend"
        yield line(f"Dumps of {who(case.ranks_seen)} were read, {job.dumps} in all, of {backends}.", *first)
    missing = sorted(set(range(job.world_size or 0)) - set(case.ranks_seen))
    if missing:
        yield line(f"No dump was found of {who(missing)}; that does not make them guilty.")
    yield line(
        f"There are {_counted(case.stack_files.height, 'stack file')}, {_counted(case.logs.height, 'log')} and the "
        f"states of {case.exits.height} processes.",
        *first,
    )
    yield from _complaints(bench)
    yield from _ends(bench)
    for note in bench.diagnosis.notes[:_MOST_NOTES]:
        yield line(f"Note: {note}")


def _complaints(bench: Bench) -> Iterator[Line]:
    """Kinds of lines, with who wrote them: the first to complain is only the one whose timer ran out first."""
    told = bench.case.events.filter(pl.col("role") != "fact")
    kinds = told.group_by("kind", "role", maintain_order=True).agg(
        pl.col("rank").unique().drop_nulls().sort(),
        pl.len().alias("lines"),
        pl.col("log").first(),
        pl.col("line").first(),
    )
    order = pl.col("role").cast(pl.String).replace_strict({"origin": 0, "messenger": 1, "echo": 2})
    for row in kinds.sort(order, maintain_order=True).head(_MOST_KINDS).iter_rows(named=True):
        writer = who(row["rank"]) if row["rank"] else "a process of no known rank"
        yield line(
            f"Logs of {writer} say {row['kind']} ({row['role']}, lines: {row['lines']}).",
            event_id(row["log"], row["line"]),
        )


def _ends(bench: Bench) -> Iterator[Line]:
    ends = bench.case.exits.filter(pl.col("rank").is_not_null() & (pl.col("state") != "running"))
    alike = ends.group_by("state", "signal", "exit_code", "role", maintain_order=True).agg(
        pl.col("rank").unique().sort(), pl.col("evidence").drop_nulls().first()
    )
    for row in alike.head(_MOST_EXITS).iter_rows(named=True):
        how = row["signal"] or (f"with status {row['exit_code']}" if row["exit_code"] is not None else "")
        ids = (row["evidence"],) if row["evidence"] else ()
        yield line(f"Processes of {who(row['rank'])}: {' '.join(filter(None, (row['state'], how)))}.", *ids)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


ORDER = 10
TOOL = Tool(overview, Arguments)
