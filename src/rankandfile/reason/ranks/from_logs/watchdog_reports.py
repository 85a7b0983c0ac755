"""What ranks' watchdogs say of calls and groups, however a release of torch words it: one report per rank and call.

A line names its group by a name that all members share (torch >= 2.5), by a description and a number that each process
counts for itself (2.3, 2.4), or not at all (before). What is not told is not made up: a group without a shared name has
the members that its lines tell.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
from msgspec.structs import replace

from rankandfile.model.claims import UNNAMED
from rankandfile.model.column import Fields, Row
from rankandfile.model.events import event_id
from rankandfile.reason.ranks.activity import CodePlace, is_library

from .accounts import Report, fields_of

TIMEOUT, PROGRESS, SIGNAL, ISSUED = "watchdog_timeout", "watchdog_progress", "dump_signal", "failed_stack"
BLOCKING = "blocking_wait_timeout"
TRANSFERS = ("SEND", "RECV", "COALESCED")
DEFAULT = "default_pg"
_MERGED = ("group_rank", "op", "size_in", "size_out", "enqueued", "completed", "timeout_ms")

#: Numbers of calls that lie further apart than this are of different groups, where no line says of which.
_ONE_GROUP = 32


def read_reports(events: pl.DataFrame) -> tuple[Report, ...]:
    """One per rank, group and call: what the timeout's line says, and the lines that belong to it."""
    transfer = pl.col("op").cast(pl.String).is_in(list(TRANSFERS)).fill_null(False)
    rows = gave_up_rows(events, (TIMEOUT, PROGRESS, BLOCKING, SIGNAL, ISSUED))
    if rows.is_empty():
        return ()
    # What else its watchdog says of that number is of the send or receive: unbatched ones are counted with the rest.
    moved = {(row["rank"], row["seq"]) for row in rows.filter(transfer).iter_rows(named=True)}
    found: dict[tuple[int, str, int | None], Report] = {}
    for row in _named(rows.filter(~transfer)):
        if (row["rank"], row["seq"]) in moved or (
            row["kind"] == SIGNAL and (row["rank"], _next(row)) in moved
        ):
            continue
        seq = None if row["kind"] == SIGNAL else row["seq"]
        key = (row["rank"], row["group_name"], seq)
        known = found.get(key)
        if row["kind"] == ISSUED:
            way = tuple(frames(fields_of(row)))
            site = next((place for place in way if not is_library(place)), None)
            if known is not None and site is not None:
                found[key] = replace(known, site=site, way=way)
            continue
        report = report_of(row, seq)
        found[key] = report if known is None else _merged(known, report)
    return (*found.values(), *_answered(found))


def _next(row: Row) -> int | None:
    return None if row["completed"] is None else row["completed"] + 1


def _answered(found: dict[tuple[int, str, int | None], Report]) -> Iterator[Report]:
    """Who answers a dump signal with a call issued that has not ended waits in the first of those.

    Not where its own watchdog gave up on another call: then that is what holds it, and this one stands in line behind.
    """
    stuck = {rank for rank, _, seq in found if seq is not None}
    for (rank, _, seq), report in found.items():
        last, done = report.enqueued, report.completed
        if seq is None and rank not in stuck and last is not None and done is not None and last > done >= 0:
            yield replace(report, seq=done + 1)


def transfer_reports(events: pl.DataFrame) -> list[Report]:
    """The first send or receive that each rank's watchdog gave up on. Its numbers are of another counter: the last that
    was enqueued is left out."""
    found: dict[int, Report] = {}
    of_transfers = pl.col("op").cast(pl.String).is_in(list(TRANSFERS)) & pl.col("seq").is_not_null()
    for row in _named(gave_up_rows(events, (TIMEOUT, PROGRESS, BLOCKING)).filter(of_transfers)):
        bare = replace(report_of(row, row["seq"]), size_in=None, size_out=None, enqueued=None, completed=None)
        found.setdefault(row["rank"], bare)
    return list(found.values())


def gave_up_rows(
    events: pl.DataFrame, kinds: tuple[str, ...] = (TIMEOUT, PROGRESS, BLOCKING)
) -> pl.DataFrame:
    """Lines of these kinds that a rank wrote of itself; what is told again counts where it is the only copy."""
    rows = events.filter(pl.col("kind").cast(pl.String).is_in(list(kinds)) & pl.col("rank").is_not_null())
    if rows.is_empty():
        return rows
    again = pl.col("role").cast(pl.String) == "echo"
    first = rows.filter(~again)
    copies = rows.filter(again & pl.col("seq").is_not_null()).join(
        first.select("rank", "seq"), on=["rank", "seq"], how="anti"
    )
    return pl.concat([first, copies]).sort("log", "line")


def report_of(row: Row, seq: int | None) -> Report:
    return Report(
        row["rank"], row["group_name"], row["group_desc"] or "", row["group_rank"], seq, row["op"],
        row["size_in"], row["size_out"], row["enqueued"], row["completed"], row["timeout_ms"],
        event_id(row["log"], row["line"]),
    )  # fmt: skip


def frames(fields: Fields) -> list[CodePlace]:
    found = fields.get("frames")
    out: list[CodePlace] = []
    for frame in found if isinstance(found, list) else []:
        match frame:
            case [str(function), str(file), int(line)]:
                out.append(CodePlace(function, file, line, "/torch/" in file))
    return out


def _named(rows: pl.DataFrame) -> Iterator[Row]:
    """The rows, each with a name of its group that is its own if two rows of the same name may be of two groups."""
    listed = [dict(row) for row in rows.iter_rows(named=True)]
    nameless = [row for row in listed if row["group_name"] is None]
    owners: dict[tuple[str, int], set[int]] = {}
    for row in nameless:
        row["group_name"] = _by_number(row)
        if row["group_name"] and row["group_rank"] is not None:
            owners.setdefault((row["group_name"], row["group_rank"]), set()).add(row["rank"])
    shared = {name for (name, _), ranks in owners.items() if len(ranks) > 1}
    for row in nameless:
        if row["group_name"] in shared:
            # Two ranks in one place of it: every process counts its groups for itself.
            row["group_name"] += f" of rank {row['rank']}"
    unsaid = sorted((row for row in nameless if not row["group_name"]), key=lambda row: row["seq"] or 0)
    number, last = 0, None
    for row in unsaid:
        if last is not None and (row["seq"] or 0) - last > _ONE_GROUP:
            number += 1
        last = row["seq"] or 0
        row["group_name"] = UNNAMED + (f", {number + 1}" if number else "")
    yield from listed


def _by_number(row: Row) -> str:
    if row["group_desc"] == DEFAULT or row["pg_id"] == 0:
        return DEFAULT
    if row["pg_id"] is None:
        return ""
    return f"PG {row['pg_id']}" + (f" {row['group_desc']}" if row["group_desc"] else "")


def _merged(one: Report, other: Report) -> Report:
    """What the first line does not say, the other may."""
    gaps = {name: getattr(other, name) for name in _MERGED if getattr(one, name) is None}
    return replace(one, desc=one.desc or other.desc, **gaps)
