"""Which rank HCCL means by a host's address and a device: it counts devices on each host, and names no rank.

Launchers number ranks host by host. The host that the root of the group is on has the first of them; where the ranks
that write are the first half of the job, and each host has as many, any other host has the second half.
"""

from __future__ import annotations

import msgspec
import polars as pl


def with_places(events: pl.DataFrame, world: int | None) -> pl.DataFrame:
    """HCCL's lines of a lost heartbeat, with the rank that they are about where that is sure."""
    kind = pl.col("kind").cast(pl.String)
    lost = events.with_row_index().filter((kind == "hccl_lost") & pl.col("peer").is_not_null())
    if not lost.height:
        return events
    tags = events.filter(kind == "hccl_notify")["fields"].to_list()
    roots = {_root(fields) for fields in tags} - {None}
    writers = sorted(set(events.filter(pl.col("rank_from").cast(pl.String) == "prefix")["rank"].drop_nulls()))
    half = (
        len(writers)
        if writers and writers == list(range(len(writers))) and world == 2 * len(writers)
        else None
    )
    about, about_in = events["about"].to_list(), events["about_in"].cast(pl.String).to_list()
    for row in lost.iter_rows(named=True):
        host, _, device = str(row["peer"]).partition("/")
        if not device.isdecimal() or len(roots) != 1:
            continue
        first = 0 if host in roots else half
        if first is not None:
            about[row["index"]], about_in[row["index"]] = [first + int(device)], "global"
    return events.with_columns(
        pl.Series("about", about, dtype=events.schema["about"]),
        pl.Series("about_in", about_in).cast(events.schema["about_in"]),
    )


def _root(fields: str | None) -> str | None:
    """`AllReduce_10.1.2.3%eth0_60000_0_17...`: the group is named after its root's address."""
    tag = str(msgspec.json.decode(fields or "{}").get("tag") or "")
    return tag.partition("%")[0].rpartition("_")[2] or None
