"""What logs say: the tables of log files, of the events in them, and of how processes ended.

An event is its writer's claim. Who logs first is whose timer ran out first, so every event carries its *role*, and
no single one of them establishes a cause.
"""

from __future__ import annotations

import polars as pl

from .column import Column

#: What a line is worth.
#: origin: the writer reports a failure of its own (an exception of the application, a fault of its device).
#: messenger: the writer reports that it waited, or what it heard of others.
#: echo: the writer repeats or suffers what began elsewhere, or earlier.
#: fact: a record that accuses nobody (a counter, an exit status, a start).
ROLES = pl.Enum(["origin", "messenger", "echo", "fact"])

#: How far a time can be trusted.
#: zoned: the line states its zone. wall: date and time without a zone. no_year: the year was filled in.
#: no_date: time of day only, on 1 January 1970. boot: since the machine was started.
#: near ...: the line has none; this is that of a line of the same writer close by.
_OWN_TIMES = ["zoned", "wall", "no_year", "no_date", "boot"]
TIME_QUALITIES = pl.Enum([*_OWN_TIMES, *(f"near {quality}" for quality in _OWN_TIMES)])

#: Whose numbers `about` holds: ranks of the job, of the event's group or communicator, or of one host.
SCOPES = pl.Enum(["global", "group", "local"])

EVENTS = (
    Column("log", pl.UInt32, "the file, a row of `logs`"),
    Column("line", pl.Int64, "line in the file, from 1"),
    Column("offset", pl.Int64, "bytes before that line"),
    Column("kind", pl.Categorical(), "what happened, in one word: watchdog_timeout, xid, slurm_oom, ..."),
    Column("shape", pl.Categorical(), "the shape the line was recognised by: W1, H3, K5, ..."),
    Column("role", ROLES, "origin, messenger, echo or fact"),
    Column("repeats", pl.Int64, "lines of this writer that say the same, this one included"),
    Column(
        "time_ns",
        pl.Int64,
        "the line's time as its own zone has it, in nanoseconds since 1970; null if it has none",
    ),
    Column("time_quality", TIME_QUALITIES, "how far that time can be trusted"),
    Column("rank", pl.Int32, "global rank of the writer, or of the process that the line is about"),
    Column("rank_from", pl.Categorical(), "what told the rank: prefix, line, nccl_init, process, file, ..."),
    Column("local_rank", pl.Int32, "rank on its host"),
    Column("host", pl.String, "host of that process"),
    Column("pid", pl.Int64, "its process id, as the line's writer counts"),
    Column("pg_id", pl.Int32, "number of the process group in that process (its order of creation)"),
    Column("group_name", pl.String, "name of the process group, equal on all members"),
    Column("group_desc", pl.String, "its description, such as default_pg or tp"),
    Column("group_rank", pl.Int32, "rank inside that group or communicator"),
    Column(
        "seq", pl.Int64, "sequence number; which counter it is depends on the kind, so compare like with like"
    ),
    Column("op", pl.Categorical(), "operation as the line names it: ALLREDUCE, AllReduce, ..."),
    Column("enqueued", pl.Int64, "last enqueued number of the group, -1: none"),
    Column("completed", pl.Int64, "last completed number of the group, -1: none"),
    Column("size_in", pl.Int64, "elements that went in; null if the line does not know"),
    Column("size_out", pl.Int64, "elements that came out; null if the line does not know"),
    Column("timeout_ms", pl.Int64, "the limit that ran out"),
    Column("waited_ms", pl.Int64, "the time waited, where the line gives it"),
    Column("exit_code", pl.Int32, "exit code; negative: the number of the signal"),
    Column("signal", pl.Categorical(), "signal, such as SIGKILL"),
    Column("peer", pl.String, "the other side of a connection, as the line has it"),
    Column("about", pl.List(pl.Int32), "the ranks that the line names apart from its writer"),
    Column("about_in", SCOPES, "whose numbers those are"),
    Column("fields", pl.String, "what else the line says, as a JSON object; frames and lists too"),
    Column("text", pl.String, "the line without its prefixes, bounded, control characters removed"),
)

LOGS = (
    Column("log", pl.UInt32, "number of the file in this case"),
    Column("source", pl.String, "path, with `!/` between an archive and its member"),
    Column("bytes", pl.Int64, "size of the file"),
    Column("lines", pl.Int64, "lines counted in what was read"),
    Column(
        "rank",
        pl.Int32,
        "global rank whose output this file is, where its path tells it; null for shared files",
    ),
    Column("rank_from", pl.String, "what told that rank: name, folder"),
    Column("host", pl.String, "host, where the path or every line tells the same one"),
    Column("prefixes", pl.List(pl.String), "kinds of line prefix that were recognised, most frequent first"),
    Column("first_ns", pl.Int64, "time of the first line that has one, in the zone of the file"),
    Column("last_ns", pl.Int64, "time of the last line that has one, in the zone of the file"),
    Column("time_quality", TIME_QUALITIES, "how far these two can be trusted"),
    Column("world_size", pl.Int32, "largest number of ranks that a line states for the job"),
    Column("torch", pl.String, "torch releases that word their lines like this, such as '>= 2.6'"),
    Column(
        "programs", pl.List(pl.String), "other frameworks than torch that its first and last lines speak of"
    ),
    Column(
        "last_line",
        pl.String,
        "the last line that is not empty: what the process was saying when it fell silent",
    ),
    Column("truncated", pl.Boolean, "the file ends in the middle of a line"),
    Column(
        "partial", pl.Boolean, "some of the file was not read, or events were left out; a note says which"
    ),
)

EXITS = (
    Column("rank", pl.Int32, "global rank; null if nothing tells it"),
    Column("local_rank", pl.Int32, "rank on its host"),
    Column("host", pl.String, "host"),
    Column("pid", pl.Int64, "process id, as the source counts"),
    Column("task", pl.Int32, "task of the scheduler's step; it is a rank only where `rank` says so"),
    Column(
        "state",
        pl.Categorical(),
        "exited (ended by itself), signalled, running, stopped (by a signal, until another lets it go on), lost (who "
        "watched it does not reach it any more), or ended (nothing tells how)",
    ),
    Column("exit_code", pl.Int32, "exit code; null if a signal ended it or nothing tells"),
    Column("signal", pl.Categorical(), "the signal that ended it, such as SIGKILL"),
    Column("time_ns", pl.Int64, "when, as the source says; of a stopped process: since when at the latest"),
    Column(
        "role",
        ROLES,
        "origin: ended by itself or by the system; echo: ended by its launcher, or by its watchdog",
    ),
    Column(
        "kind", pl.Categorical(), "what kind of source says so: lab, error_file, child_failed, slurm, ..."
    ),
    Column("error", pl.String, "the exception or the reason, where the source has one"),
    Column("source", pl.String, "path of the source"),
    Column("line", pl.Int64, "line in the source; null for documents"),
    Column(
        "evidence",
        pl.String,
        "evidence id (see `rankandfile.model.ledger`); null for documents that have none",
    ),
)

LOG_TABLES: dict[str, tuple[Column, ...]] = {"events": EVENTS, "logs": LOGS, "exits": EXITS}


def log_schema(table: str) -> pl.Schema:
    return pl.Schema({column.name: column.dtype for column in LOG_TABLES[table]})


def event_id(log: int, line: int) -> str:
    return f"L{log}:{line}"
