"""The tables of a case: what each column is called, holds and means.

A job's calls are one table, tens of millions of rows long; whatever repeats (op names, shapes, stacks, frames)
is stored once in a table of its own and referred to by number. The description of each column below *is* its
documentation: ``docs/tables.md`` is made from it.
"""

from __future__ import annotations

import polars as pl

from .column import Column
from .events import LOG_TABLES
from .snapshots import SNAPSHOT_TABLES

#: A call's state as Rank & File understands it, whoever recorded it (see `rankandfile.evidence.flight.states`).
#: issued: enqueued on the host; nothing proves that the device began.
#: started: the device began, and nothing proves that it ended.
#: completed: the device finished it.
#: ended: retired without a word on how: finished or failed (gloo tells no more).
STATES = pl.Enum(["issued", "started", "completed", "ended"])

#: Where a group's member list comes from: the dump's own configuration, the ranks that used its name,
#: or the size of the job (for the default group).
MEMBERS_FROM = pl.Enum(["recorded", "inferred", "world"])

SIZES = pl.List(pl.List(pl.Int64))

CALLS = (
    Column("rank", pl.Int32, "global rank that made the call"),
    Column("group", pl.UInt32, "process group, a row of `groups`"),
    Column(
        "seq", pl.Int64, "sequence number among the group's collectives (collective_seq_id); null if unknown"
    ),
    Column("p2p_seq", pl.Int64, "sequence number among the group's sends and receives (p2p_seq_id)"),
    Column("op_id", pl.Int64, "the group's count of all operations, batched ones included"),
    Column(
        "op", pl.Categorical(), "what was asked for, without backend and peers: all_reduce, send, coalesced"
    ),
    Column("name", pl.Categorical(), "the name as it was recorded: nccl:send 0->1"),
    Column("is_p2p", pl.Boolean, "a send, a receive, or a batch of them"),
    Column("src", pl.Int32, "sender of a send or receive, as global rank where the members are known"),
    Column("dst", pl.Int32, "receiver of a send or receive, as global rank where the members are known"),
    Column("root", pl.Int32, "root of a broadcast, reduce, gather or scatter where recorded, else null"),
    Column("shape", pl.UInt32, "sizes and dtypes, a row of `shapes`"),
    Column("state", STATES, "issued, started, completed or ended, as Rank & File understands it"),
    Column("retired", pl.Boolean, "the recorder had let go of the call"),
    Column("created_ns", pl.Int64, "wall clock when the call was made"),
    Column("started_ns", pl.Int64, "wall clock when the start was noticed; null if it was not"),
    Column("completed_ns", pl.Int64, "wall clock when the end was noticed; null if it was not"),
    Column("duration_ms", pl.Float64, "time on the device, where timing was on"),
    Column("site", pl.UInt32, "the call site, a row of `frames`; null without stacks"),
    Column("stack", pl.UInt32, "the whole stack, a row of `stacks`; null without stacks"),
    Column("thread", pl.Categorical(), "thread id and name"),
    Column("timeout_ms", pl.Int64, "the timeout of the call"),
    Column("record", pl.Int64, "the recorder's number of the call, the n-th of this process"),
    Column("dump", pl.UInt32, "the file it was read from, a row of `dumps`"),
)

GROUPS = (
    Column("group", pl.UInt32, "number of the group in this case"),
    Column("name", pl.String, "the name the job gave it; not unique: identity is name and members"),
    Column("desc", pl.String, "its description, such as mesh_tp or default_pg"),
    Column("members", pl.List(pl.Int32), "global ranks, sorted; null if nothing tells them"),
    Column("members_from", MEMBERS_FROM, "where the member list comes from"),
)

SHAPES = (
    Column("shape", pl.UInt32, "number of the shape in this case"),
    Column("in_sizes", SIZES, "sizes of the input tensors"),
    Column("in_dtypes", pl.List(pl.String), "dtypes of the input tensors; empty where not recorded"),
    Column("out_sizes", SIZES, "sizes of the output tensors"),
    Column("out_dtypes", pl.List(pl.String), "dtypes of the output tensors; empty where not recorded"),
)

FRAMES = (
    Column("frame", pl.UInt32, "number of the frame in this case"),
    Column("function", pl.String, "function name"),
    Column("file", pl.String, "source path as the process saw it"),
    Column("line", pl.Int64, "line number"),
    Column("is_torch", pl.Boolean, "one of torch's own frames, or the interpreter's"),
)

STACKS = (
    Column("stack", pl.UInt32, "number of the stack in this case"),
    Column("frames", pl.List(pl.UInt32), "rows of `frames`, innermost first"),
    Column("site", pl.UInt32, "the innermost frame that is neither torch's nor a framework's"),
)

#: What a producer's own status block says per group, which can differ from what its ring shows.
STATUSES = (
    Column("rank", pl.Int32, "global rank"),
    Column("group", pl.UInt32, "process group, a row of `groups`"),
    Column("last_enqueued", pl.Int64, "last number enqueued, as the producer counts; null if none"),
    Column("last_started", pl.Int64, "last number started; null if none or not tracked"),
    Column("last_completed", pl.Int64, "last number completed; null if none"),
    Column("dump", pl.UInt32, "the file it was read from, a row of `dumps`"),
)

DUMPS = (
    Column("dump", pl.UInt32, "number of the file in this case"),
    Column("source", pl.String, "path, with `!/` between an archive and its member"),
    Column("format", pl.String, "pickle, json, table (an aggregated text table)"),
    Column("version", pl.String, "the recorder's format version"),
    Column("library", pl.String, "version of the communication library, where recorded"),
    Column("backend", pl.String, "nccl, gloo, ... as recorded in the calls"),
    Column("rank", pl.Int32, "global rank; null if nothing tells it"),
    Column("rank_from", pl.String, "what told the rank: name, content, folder, ..."),
    Column("host", pl.String, "host, where the path or the content tells it"),
    Column("calls", pl.Int64, "calls kept from this file"),
    Column("left_out", pl.Int64, "calls in the file that could not be kept"),
    Column("first_record", pl.Int64, "first record kept"),
    Column("last_record", pl.Int64, "last record kept"),
    Column("wrapped", pl.Boolean, "the ring had wrapped: earlier calls are lost"),
    Column("truncated", pl.Boolean, "the file ends early: later calls are lost"),
    Column("has_frames", pl.Boolean, "the calls carry stacks"),
    Column("timing", pl.Boolean, "start times were recorded, so that `issued` means not started"),
    Column("first_ns", pl.Int64, "time of the first call"),
    Column("last_ns", pl.Int64, "time of the last call"),
    Column("written_ns", pl.Int64, "when the file was written, as the file system or archive says"),
    Column("set_aside", pl.String, "why the file does not enter the case; null if it does"),
)

TABLES: dict[str, tuple[Column, ...]] = {
    "calls": CALLS,
    "groups": GROUPS,
    "shapes": SHAPES,
    "stacks": STACKS,
    "frames": FRAMES,
    "statuses": STATUSES,
    "dumps": DUMPS,
    **SNAPSHOT_TABLES,
    **LOG_TABLES,
}


def schema(table: str) -> pl.Schema:
    return pl.Schema({column.name: column.dtype for column in TABLES[table]})


def empty(table: str) -> pl.DataFrame:
    return pl.DataFrame(schema=schema(table))
