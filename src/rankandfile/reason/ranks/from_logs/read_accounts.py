"""From the events and exits of a case to its `Accounts`: how each rank ended, what it raised, what its watchdog saw."""

from __future__ import annotations

import polars as pl
from msgspec.structs import replace

from rankandfile.model.case import Case
from rankandfile.model.column import Row
from rankandfile.model.events import event_id
from rankandfile.model.work import WORK
from rankandfile.reason.ranks.activity import is_library
from rankandfile.reason.ranks.at_work import read_work
from rankandfile.reason.ranks.core_files import PATTERN

from .aborts import of_the_aborted, own_aborts
from .accounts import Accounts, End, Error, fields_of
from .caught import caught, without_handled
from .devices_and_processes import (
    BY_ITS_WATCHDOG,
    BY_THE_REPORT,
    links_down,
    links_of_ports,
    names_a_process,
    ranks_of_devices,
    ranks_of_processes,
    unfinished_alone,
    xid_owner,
)
from .exit_lists import ends_of
from .hosts import hosts_of_ranks, stalled_hosts
from .in_flight import in_flight
from .memory_counters import COUNTERS, out_of_memory
from .suspended import suspended
from .unreachable import lost_between, unreachable
from .watchdog_reports import frames, gave_up_rows, read_reports
from .watches import watched

_RAISES = ("traceback", "loader_raised", "oom")
_OF_OTHERS = "^(K|R|P3|P4|P6|P7|J2)"
"""Shapes that are about another process than the one that writes them."""
_DEVICE = (
    "watchdog_device_error", "cuda_error", "cuda_failure", "nccl_unhandled_cuda", "device_assert", "gpu_hang",
    "npu_fault",
)  # fmt: skip
_LINK = ("ib_link_event",)
_STOPS = ("loader_killed", "loader_exited", "loader_bus_error", "loader_timeout", "gil_not_acquired")
_MISFITS = ("gloo_size_disagrees", "size_truncated", "size_disagrees")
#: How NCCL, and torch's watchdog with its words, tell that a peer is gone.
_LOST = ("socket_closed", "ib_completion_error", "nccl_remote_error", "watchdog_ended")


def read_accounts(case: Case) -> Accounts:
    """What logs and exit lists say of each rank."""
    events = case.events.with_columns(pl.col("kind").cast(pl.String), pl.col("role").cast(pl.String))
    mine = events.filter(pl.col("rank").is_not_null())
    files = case.logs.filter(pl.col("rank").is_not_null())
    hosts = hosts_of_ranks(case)
    kind = pl.col("kind").cast(pl.String)
    links, links_of_hosts = links_down(events, hosts)
    of_ports, ports_of_hosts = links_of_ports(mine, _errors(mine, _LINK, "origin"), hosts)
    ends = out_of_memory(
        _ended_well(mine) | ends_of(case.exits.filter(~kind.is_in([COUNTERS, PATTERN, WORK]))),
        case.exits.filter(kind == COUNTERS),
        hosts,
    )
    echoes = _errors(mine, ("traceback",), "echo", "messenger")
    raised = _with_chained_places(_errors(without_handled(mine), _RAISES, "origin"), mine)
    return Accounts(
        ends=own_aborts(ends, events, frozenset(echoes)),
        raised=raised,
        caught=caught(case, ends),
        in_flight=in_flight(case),
        echoes=echoes,
        lost_peers=_errors(mine, _LOST, "echo", "messenger"),
        device=_device(events, mine, case.exits, hosts),
        link={**links, **of_ports},
        host_links={**links_of_hosts, **ports_of_hosts},
        stuck_watchdogs=_stuck_watchdogs(mine),
        unreachable=unreachable(events, case.exits, hosts),
        lost_between=lost_between(events, hosts),
        misfits=_errors(of_the_aborted(events, ends), _MISFITS, "origin", "messenger", "fact"),
        host_stalls=stalled_hosts(events, hosts),
        stopped=_errors(mine, _STOPS, "origin", "messenger", "fact"),
        suspended=suspended(case.exits, ends),
        watched=watched(events),
        waited_in_vain={
            # Whoever catches what gloo raises, and logs it, waited in vain as well.
            **_errors(mine, ("gloo_timeout",), "messenger"),
            **_errors(mine, ("traceback",), "messenger"),
        },
        work=read_work(case.exits),
        reports=read_reports(mine),
        left_out=_left_out(mine),
        logged=frozenset(files["rank"].to_list())
        | frozenset(mine.filter(~pl.col("shape").cast(pl.String).str.contains(_OF_OTHERS))["rank"].to_list()),
        last_lines=_last_said(events)
        | dict(files.filter(pl.col("last_line").is_not_null()).select("rank", "last_line").iter_rows()),
        hosts=hosts,
    )


def _ended_well(mine: pl.DataFrame) -> dict[int, End]:
    """Processes of which their launcher says that they ended well."""
    rows = mine.filter(pl.col("kind") == "process_ended_well")
    return {
        rank: End("finished", "exited with code 0", (event_id(log, line),), how="exit code 0")
        for rank, log, line in rows.select("rank", "log", "line").iter_rows()
    }


def _errors(events: pl.DataFrame, kinds: tuple[str, ...], *roles: str) -> dict[int, Error]:
    """The first of each rank; one of its main thread before one of another."""
    out: dict[int, Error] = {}
    rows = events.filter(pl.col("kind").is_in(list(kinds)) & pl.col("role").is_in(list(roles)))
    for row in rows.sort("log", "line").iter_rows(named=True) if rows.height else ():
        error = _error(row)
        known = out.get(row["rank"])
        if known is None or (known.thread and not error.thread):
            out[row["rank"]] = error
        elif fields_of(row).get("original") or (known.place is None and error.place is not None):
            out[row["rank"]] = replace(
                known, place=error.place or known.place, evidence=(*known.evidence, *error.evidence)
            )
    return out


def _with_chained_places(raised: dict[int, Error], mine: pl.DataFrame) -> dict[int, Error]:
    """An exception that a library raised and another followed: the program's own frames stand in the one behind it."""
    lacking = [rank for rank, error in raised.items() if error.place is None]
    rows = (
        mine.filter(pl.col("rank").is_in(lacking) & (pl.col("kind") == "traceback"))
        if lacking
        else mine.clear()
    )
    for row in rows.sort("log", "line").iter_rows(named=True):
        known = raised[row["rank"]]
        if known.place is None and fields_of(row).get("chained") and (place := _error(row).place) is not None:
            raised[row["rank"]] = replace(known, place=place)
    return raised


def _error(row: Row) -> Error:
    fields = fields_of(row)
    words = row["text"] or row["kind"]
    if "exception" in fields and row["kind"] == "traceback":
        message = fields.get("message")
        words = f"{fields['exception']}: {message}" if message else str(fields["exception"])
    elif isinstance(fields.get("error"), str):
        words = fields["error"]
    place = next((p for p in frames(fields) if not is_library(p)), None)
    return Error(words, (event_id(row["log"], row["line"]),), fields.get("thread"), place)


def _device(
    events: pl.DataFrame, mine: pl.DataFrame, exits: pl.DataFrame, hosts: dict[int, str]
) -> dict[int, Error]:
    """Faults of a rank's own device: what its log says, and the kernel's Xid by the process or the device it names."""
    out = {**_of_the_one_that_aborted(events, exits), **_errors(mine, _DEVICE, "origin")}
    processes, devices = ranks_of_processes(exits), ranks_of_devices(events, hosts)
    stuck, unfinished = _stuck_watchdogs(mine), unfinished_alone(events)
    for row in events.filter((pl.col("kind") == "xid") & (pl.col("role") == "origin")).iter_rows(named=True):
        rank, told_by = xid_owner(row, processes, devices, hosts), ""
        if rank is None and not out and len(stuck) == 1 and not names_a_process(row):
            rank, told_by = next(iter(stuck)), BY_ITS_WATCHDOG
        if rank is None and not out and unfinished is not None and not names_a_process(row):
            rank, told_by = unfinished, BY_THE_REPORT
        if rank is None:
            continue
        fields = fields_of(row)
        line = f"Xid {fields.get('code')}: {fields.get('error')}"
        evidence = (event_id(row["log"], row["line"]),)
        xid = Error(f"{line}{told_by}", evidence, line=line if told_by else "")
        out[rank] = _both(out[rank], xid) if rank in out else xid
    return out


def _both(known: Error, more: Error) -> Error:
    return Error(
        f"{known.words}; {more.words}",
        (*known.evidence, *more.evidence),
        line=known.line or (f"{known.words}; {more.line}" if more.line else ""),
    )


def _of_the_one_that_aborted(events: pl.DataFrame, exits: pl.DataFrame) -> dict[int, Error]:
    """A fault that names no rank is of the one process that aborted, where its launcher ended all others: the runtime
    of a device writes its last line without a prefix, and ends its process."""
    lines = events.filter(
        pl.col("kind").is_in(list(_DEVICE)) & (pl.col("role") == "origin") & pl.col("rank").is_null()
    )
    badly = exits.filter(
        pl.col("rank").is_not_null()
        & (pl.col("signal").is_not_null() | (pl.col("exit_code").fill_null(0) != 0))
        & ~pl.col("signal").cast(pl.String).is_in(["SIGTERM", "SIGINT"]).fill_null(False)
    )
    ranks = badly["rank"].unique().to_list()
    if not lines.height or len(ranks) != 1 or badly["signal"].cast(pl.String).is_in(["SIGABRT"]).sum() == 0:
        return {}
    error = _error(lines.sort("log", "line").row(0, named=True))
    return {ranks[0]: replace(error, evidence=(*error.evidence, badly["evidence"][0]))}


def _last_said(events: pl.DataFrame) -> dict[int, str]:
    """The last line of each rank in a log of several. One that names itself in its words counts among others, or where
    it does so often."""
    rows = events.filter(pl.col("kind") == "last_said")
    if rows.is_empty():
        return {}
    rows = rows.with_columns(
        pl.col("fields").str.json_path_match("$.speaker").cast(pl.Int32, strict=False).alias("speaker")
    )
    rows = rows.with_columns(pl.coalesce("rank", "speaker").alias("said"))
    alone = pl.col("fields").str.contains('"alone"', literal=True).fill_null(False)
    several = rows.filter((pl.col("said").n_unique().over("log") > 1) | alone)
    return dict(several.sort("log", "line").select("said", "text").drop_nulls().iter_rows())


def _left_out(mine: pl.DataFrame) -> int:
    """Lines of watchdogs that a collector left out as alike, and that were not to be given to any rank."""
    if (mine["rank_from"].cast(pl.String) == "left_out").any():
        return 0
    rows = gave_up_rows(mine).filter(pl.col("fields").str.contains('"left_out"', literal=True))
    counts = [fields_of(row).get("left_out") for row in rows.iter_rows(named=True)]
    return max((count - 1 for count in counts if isinstance(count, int)), default=0)


def _stuck_watchdogs(mine: pl.DataFrame) -> dict[int, Error]:
    """Ranks whose watchdog stood still on its own account: not of those that had given up on a call before, for one
    that stops after that only waits for the abort to end; nor where others' had, long before."""
    stuck = mine.filter(pl.col("kind") == "heartbeat_stuck")
    if stuck.is_empty():
        return {}
    gave_up = gave_up_rows(mine, ("watchdog_timeout",))
    first = gave_up["time_ns"].min()
    out = _errors(
        stuck.filter(~pl.col("rank").is_in(gave_up["rank"].implode())), ("heartbeat_stuck",), "messenger"
    )
    for row in stuck.iter_rows(named=True):
        stood_ms, at = row["waited_ms"] or 0, row["time_ns"]
        if isinstance(first, int) and at is not None and at - stood_ms * 1_000_000 > first:
            out.pop(row["rank"], None)
    return out
