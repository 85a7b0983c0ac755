"""How each rank ended, by the exit lists of the case: of several that tell of one rank, whichever is surest."""

from __future__ import annotations

from collections import defaultdict

import polars as pl

from rankandfile.model.column import Row

from .accounts import ABORTED, OWN, End, EndKind

_SURER: dict[EndKind, int] = {"killed": 0, "exited": 1, "finished": 2, "echo": 3, "running": 4, "gone": 5}
#: How the error of an end begins that a cluster brought about, by preempting or draining a node.
_TAKEN = "taken away by its cluster"
#: How that of an end is that came when somebody cancelled the job.
_CANCELLED = "the job was cancelled"
#: The state of a process that whoever watched it reaches no more.
LOST = "lost"


def ends_of(exits: pl.DataFrame) -> dict[int, End]:
    by_rank: dict[int, list[tuple[EndKind, Row]]] = defaultdict(list)
    for row in exits.filter(pl.col("rank").is_not_null()).iter_rows(named=True):
        by_rank[row["rank"]].append((_kind(row), row))
    return {rank: _end(rows) for rank, rows in by_rank.items()}


def _kind(row: Row) -> EndKind:
    if row["role"] == "echo":
        return "echo"
    if row["state"] in ("running", "stopped"):
        return "running"
    if row["signal"] is not None or row["error"] == "out of memory":
        return "killed"
    if row["exit_code"] is not None:
        return "exited" if row["exit_code"] else "finished"
    return "gone"


def _end(rows: list[tuple[EndKind, Row]]) -> End:
    rows = sorted(rows, key=lambda pair: _SURER[pair[0]])
    kind = rows[0][0]
    same = [row for other, row in rows if other == kind]
    # An error file whose exception is an echo says why a process ended, and contradicts nobody who says how.
    against = [
        row
        for other, row in rows
        if other not in (kind, "gone") and not (other == "echo" and row["signal"] is None)
    ]
    of_memory = next((row for row in same if _of_memory(kind, row)), None)
    told = of_memory or same[0]
    return End(
        kind,
        _words(kind, told),
        tuple(dict.fromkeys(row["evidence"] for row in same[:3])),
        tuple(f"{row['evidence']} says {_words(_kind(row), row)}" for row in against[:2]),
        tuple(End(_kind(row), _words(_kind(row), row), (row["evidence"],)) for row in against[:2]),
        _how(same[0]) if kind in ("killed", "exited", "finished") else "",
        unexplained=kind == "killed" and told["signal"] == "SIGKILL" and not (of_memory or _taken(told)),
    )


def _of_memory(kind: EndKind, row: Row) -> bool:
    error = str(row["error"] or "")
    if kind == "killed" and not _taken(row):
        return error == "out of memory"
    return "memory" in error and (kind == "killed" or (kind == "gone" and row["state"] == LOST))


def _taken(row: Row) -> bool:
    return str(row["error"] or "").startswith(_TAKEN)


def _how(row: Row) -> str:
    if row["signal"] is not None:
        return str(row["signal"])
    return str(row["error"] or "") if row["exit_code"] is None else f"exit code {row['exit_code']}"


def _words(kind: EndKind, row: Row) -> str:
    if kind == "killed":
        if _taken(row):
            return str(row["error"])
        how = f"killed by {row['signal']}" if row["signal"] else "killed"
        return f"{how}, out of memory" if row["error"] == "out of memory" else how
    if kind in ("exited", "finished"):
        return f"exited with code {row['exit_code']}"
    if kind == "echo":
        if row["signal"] == OWN:
            return ABORTED
        if row["signal"]:
            return f"ended from outside by {row['signal']}"
        return f"ended when {row['error']}" if row["error"] == _CANCELLED else "ended after others had failed"
    if row["state"] == LOST:
        return lost_words(row)
    return "still there" if kind == "running" else "gone, nothing says how"


def lost_words(row: Row) -> str:
    """Of a process that its controller reaches no more: whether it still runs, nobody knows."""
    return f"lost ({row['error']})" if row["error"] else "lost"
