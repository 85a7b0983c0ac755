"""Whose rank a line of the kernel is about: by the process it names, or by the device's bus id and the host.

NCCL's own line of setup says which device a rank uses, on which host. A line that fits no rank for sure is of its host
alone: it explains that something there failed, and accuses no rank.
"""

from __future__ import annotations

from collections import defaultdict

import polars as pl

from rankandfile.model.column import Row
from rankandfile.model.events import event_id
from rankandfile.reason.words import shortened

from .accounts import Error, fields_of

#: Why a fault is taken for that of a rank's device, where the driver names neither.
_WHOSE = " (of which rank, the line does not tell: "
BY_ITS_WATCHDOG = f"{_WHOSE}its watchdog is the only one that stood still)"
#: Likewise, by torch's own account of who began and did not finish.
BY_THE_REPORT = f"{_WHOSE}torch's desync report names this one alone as not finished)"
_DEFAULT = ("default_pg", "0")
_LONGEST = 160


def unfinished_alone(events: pl.DataFrame) -> int | None:
    """The one rank that torch's desync reports say to have joined a collective and not to have finished it, where all
    that watchdogs gave up on is of the group of all ranks."""
    gave_up = events.filter(pl.col("kind").is_in(["watchdog_timeout", "watchdog_progress"]))
    groups = {*gave_up["group_name"].drop_nulls().to_list(), *gave_up["group_desc"].drop_nulls().to_list()}
    reports = events.filter(pl.col("kind") == "desync_report")
    ranks: set[int] = set()
    for row in reports.iter_rows(named=True):
        for part in fields_of(row).get("joined_unfinished", ()):
            ranks.update(part["ranks"])
    return ranks.pop() if len(ranks) == 1 and groups <= set(_DEFAULT) else None


def ranks_of_processes(exits: pl.DataFrame) -> dict[int, set[int]]:
    """A number may be given to a process on each host."""
    ranks: dict[int, set[int]] = defaultdict(set)
    for pid, rank in exits.select("pid", "rank").drop_nulls().iter_rows():
        ranks[pid].add(rank)
    return ranks


def ranks_of_devices(events: pl.DataFrame, hosts: dict[int, str]) -> dict[tuple[str, int], set[int]]:
    """(host, bus) -> ranks that set up a communicator on that device."""
    out: dict[tuple[str, int], set[int]] = defaultdict(set)
    rows = events.filter((pl.col("kind") == "nccl_init") & pl.col("rank").is_not_null())
    for row in rows.iter_rows(named=True):
        bus, host = fields_of(row).get("bus"), row["host"] or hosts.get(row["rank"])
        number = _bus_number(bus)
        if host and number is not None:
            out[host, number].add(row["rank"])
    return out


def _bus_number(bus: object) -> int | None:
    """`9d000` as NCCL writes it and `0000:9d:00` as the kernel does are one device: domain, bus, device, function."""
    text = str(bus).lower()
    try:
        if ":" not in text:
            return int(text, 16)
        parts = text.split(".")[0].split(":")
        domain, number, device = parts if len(parts) == 3 else ("0", *parts)
        return (int(domain, 16) << 20) | (int(number, 16) << 12) | (int(device, 16) << 4)
    except ValueError:
        return None


def xid_owner(
    row: Row, processes: dict[int, set[int]], devices: dict[tuple[str, int], set[int]], hosts: dict[int, str]
) -> int | None:
    """The rank whose process the driver names or, where it names none, whose device it is. None if several fit."""
    fields = fields_of(row)
    if row["rank"] is not None:
        return int(row["rank"])
    pid = row["pid"] or fields.get("xid_pid")
    if isinstance(pid, int):
        owners = processes.get(pid, set())
        if row["host"]:
            owners = {rank for rank in owners if hosts.get(rank, row["host"]) == row["host"]}
        return next(iter(owners)) if len(owners) == 1 else None
    number = _bus_number(fields.get("bus"))
    if number is None:
        return None
    fitting = [
        ranks for (host, bus), ranks in devices.items() if bus == number and row["host"] in (None, host)
    ]
    # Without a host, a bus id is that of a device on every host: then there must be but one that has it.
    return next(iter(fitting[0])) if len(fitting) == 1 and len(fitting[0]) == 1 else None


def names_a_process(row: Row) -> bool:
    return isinstance(row["pid"] or fields_of(row).get("xid_pid"), int)


def links_down(events: pl.DataFrame, hosts: dict[int, str]) -> tuple[dict[int, Error], dict[str, Error]]:
    """By rank, where a host has but one; else by host."""
    on_host: dict[str, list[int]] = defaultdict(list)
    for rank, host in hosts.items():
        on_host[host].append(rank)
    of_rank: dict[int, Error] = {}
    of_host: dict[str, Error] = {}
    for row in events.filter(pl.col("kind") == "link_down").sort("log", "line").iter_rows(named=True):
        host = row["host"]
        if host not in on_host:
            continue
        error = Error(shortened(str(row["text"]), _LONGEST), (event_id(row["log"], row["line"]),))
        if len(on_host[host]) == 1:
            of_rank.setdefault(on_host[host][0], error)
        else:
            of_host.setdefault(host, error)
    return of_rank, of_host


def links_of_ports(
    mine: pl.DataFrame, errors: dict[int, Error], hosts: dict[int, str]
) -> tuple[dict[int, Error], dict[str, Error]]:
    """By rank, and by host, what NCCL tells of its ports. Each process of a host opens every port, and hears of the
    failure of one that another uses: of several that heard, those failed whose own messages did."""
    failed = set(
        mine.filter(pl.col("kind").is_in(["ib_completion_error", "ofi_completion_error"]))["rank"].to_list()
    )
    heard: dict[str, list[int]] = defaultdict(list)
    for rank in errors:
        heard[hosts.get(rank, f"rank {rank}")].append(rank)
    of_rank: dict[int, Error] = {}
    of_host: dict[str, Error] = {}
    for host, ranks in heard.items():
        own = ranks if len(ranks) == 1 else [rank for rank in ranks if rank in failed]
        of_rank |= {rank: errors[rank] for rank in own}
        if not own:
            of_host[host] = errors[ranks[0]]
    return of_rank, of_host
