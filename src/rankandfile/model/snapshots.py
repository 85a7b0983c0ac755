"""The tables of stacks: where each thread of each process was, when someone looked.

Stacks and frames themselves are rows of the case's `stacks` and `frames`, shared with the calls': a thread that
waits in the very place where its call was made has the same number there. Evidence id of a row:
``S<file>:<line>`` (see `rankandfile.model.ledger`).
"""

from __future__ import annotations

import polars as pl

from .column import Column

#: What a thread is for. main: the program's own thread. autograd: runs a backward pass. worker: the main thread
#: of a data-loading process. server: serves whoever asks about the job, or watches over it: it took the
#: snapshot, or is torch's watchdog, and tells nothing of what the program does. launcher: a thread of the
#: process that started the ranks. other: a thread the program or a library started.
ROLES = pl.Enum(["main", "autograd", "worker", "server", "launcher", "other"])

#: What the stack is of. now: where the thread was when the snapshot was taken. died: where it was when the
#: process ended itself. raised: where an exception came from. issued: where the call was made that the
#: watchdog gave up on, which is not where the host was by then.
SHOWS = pl.Enum(["now", "died", "raised", "issued"])

SNAPSHOTS = (
    Column("file", pl.UInt32, "the file it was read from, a row of `stack_files`"),
    Column(
        "line", pl.Int64, "line where the thread's stack begins; in JSON on one line, the thread's position"
    ),
    Column("rank", pl.Int32, "global rank of the process, or of the rank that started it; null if unknown"),
    Column("rank_from", pl.String, "what told the rank: content, prefix, name, folder, process, parent"),
    Column("host", pl.String, "host, where the path or the content tells it"),
    Column("pid", pl.Int64, "process id, on its host; null if not told"),
    Column("parent", pl.Int64, "process id of the parent, where told"),
    Column("ordinal", pl.UInt32, "n-th snapshot of this process in the case, from 0, in order of time"),
    Column("at_ns", pl.Int64, "when it was taken, if the name or a line says; no time zone is read as UTC"),
    Column("shows", SHOWS, "what the stack is of: now, died, raised or issued"),
    Column("thread_id", pl.Int64, "thread number as Python knows it"),
    Column("os_thread", pl.Int64, "thread number as the system knows it"),
    Column("thread_name", pl.String, "name of the thread; empty if not told"),
    Column("role", ROLES, "what the thread is for"),
    Column("active", pl.Boolean, "it was running, not waiting; null if not told"),
    Column("owns_gil", pl.Boolean, "it held the interpreter's lock; null if not told"),
    Column("native", pl.Boolean, "the stack has native frames"),
    Column("cut", pl.Boolean, "frames are missing: the producer or the file stopped short"),
    Column("stack", pl.UInt32, "a row of `stacks`, innermost frame first; null if the thread had no frame"),
    Column("code", pl.String, "source text of the innermost frame, where a traceback shows it"),
    Column("error", pl.String, "the exception or fatal error"),
    Column("follows", pl.Int64, "line of the exception during or because of which this one was raised"),
    Column("locals", pl.String, "arguments and variables, where the snapshot has them, cut short"),
    Column(
        "asked", pl.String, "`recv: src=1`: what functions of torch.distributed were asked for, if it shows"
    ),
)

STACK_FILES = (
    Column("file", pl.UInt32, "number of the file in this case"),
    Column("source", pl.String, "path, with `!/` between an archive and its member"),
    Column(
        "format", pl.String, "pyspy, pyspy_json, faulthandler, traceback, watchdog, gdb, cpp, debug_server"
    ),
    Column("rank", pl.Int32, "global rank, where the whole file is of one"),
    Column("pid", pl.Int64, "process id, where the whole file is of one"),
    Column("host", pl.String, "host, where the path or the content tells it"),
    Column("threads", pl.Int64, "stacks kept from this file"),
    Column("written_ns", pl.Int64, "when the file was written, as the file system or archive says"),
    Column("unanswered", pl.List(pl.Int32), "ranks that the debug server asked in vain"),
    Column("notes", pl.List(pl.String), "what was cut or could not be read"),
)

SNAPSHOT_TABLES: dict[str, tuple[Column, ...]] = {"snapshots": SNAPSHOTS, "stack_files": STACK_FILES}


def snapshot_schema(table: str) -> pl.Schema:
    return pl.Schema({column.name: column.dtype for column in SNAPSHOT_TABLES[table]})


def stack_id(file: int, line: int) -> str:
    return f"S{file}:{line}"
