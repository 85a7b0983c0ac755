"""Whose process a line of NCCL's is, by the device that it names, where nothing better tells.

NCCL writes host, process and device, and no rank. Where one host's log names the ranks on that host before other lines,
and every process there has a device of its own, the first of these ranks uses the first device, and so on: launchers
number them so, and programs choose their device by the local rank.
"""

from __future__ import annotations

from collections import defaultdict

import polars as pl

from rankandfile.evidence.text.logs.whose.given import given
from rankandfile.model.log_shapes import OF_NCCL


def by_device(events: pl.DataFrame) -> pl.DataFrame:
    """Ranks of NCCL's lines without one."""
    ncclish = pl.col("shape").cast(pl.String).str.contains(OF_NCCL) & pl.col("host").is_not_null()
    lacking = ncclish & pl.col("rank").is_null() & pl.col("pid").is_not_null()
    lines = events.filter(lacking).select(
        "log", "host", "pid", pl.col("fields").str.json_path_match("$.device").cast(pl.Int64, strict=False)
    )  # fmt: skip
    owners = _owners(events.filter(ncclish), events, lines) if lines.height else []
    owners = owners or _of_one_host(events, lines)
    if not owners:
        return events
    known = pl.DataFrame(
        owners, {"log": pl.UInt32, "host": pl.String, "pid": pl.Int64, "found": pl.Int32}, orient="row"
    )
    joined = events.join(known, on=["log", "host", "pid"], how="left", maintain_order="left")
    found = ncclish & pl.col("rank").is_null() & pl.col("found").is_not_null()
    return joined.with_columns(
        *given(found, "found", "device"),
    ).select(events.columns)


def _of_one_host(events: pl.DataFrame, lines: pl.DataFrame) -> list[tuple[int, str, int, int]]:
    """Where nothing tells any rank, and one communicator of one host has as many members as there are processes, each
    with a device of its own from none on: programs number ranks so on one host."""
    sizes = events["fields"].str.json_path_match("$.nranks").cast(pl.Int64, strict=False).drop_nulls()
    rows = lines.unique().rows()
    devices = {device for _, _, _, device in rows}
    processes = {pid for _, _, pid, _ in rows}
    whole = bool(sizes.len()) and sizes.max() == len(processes) == len(devices) == len(rows) > 1
    told = events["rank"].drop_nulls().len() > 0 or events["host"].drop_nulls().n_unique() > 1
    if not whole or told or devices != set(range(len(devices))):
        return []
    return [(log, host, pid, device) for log, host, pid, device in rows]


def _owners(
    ncclish: pl.DataFrame, events: pl.DataFrame, lines: pl.DataFrame
) -> list[tuple[int, str, int, int]]:
    """(log, host, process, rank) of those that are sure."""
    hosts = dict(ncclish.group_by("log").agg(pl.col("host").unique()).iter_rows())
    told = events.filter(pl.col("rank_from").cast(pl.String) == "prefix")
    ranks = dict(told.group_by("log").agg(pl.col("rank").unique().sort()).iter_rows())
    pairs: dict[int, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for log, _, pid, device in lines.unique().iter_rows():
        pairs[log][-1 if device is None else device].add(pid)
    out: list[tuple[int, str, int, int]] = []
    for log, devices in pairs.items():
        here = ranks.get(log, [])
        row = len(here) > 1 and here[-1] - here[0] == len(here) - 1 and len(hosts.get(log, ())) == 1
        alone = all(0 <= device < len(here) and len(pids) == 1 for device, pids in devices.items())
        if row and alone:
            out += [
                (log, hosts[log][0], pid, here[device]) for device, pids in devices.items() for pid in pids
            ]
    return out
