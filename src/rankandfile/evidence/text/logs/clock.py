"""By how much the clocks of logs differ: time zones, and skew between hosts.

What all ranks report about one thing - the timeout of one collective, one dump signal - they report within seconds of
each other. A log whose reports are all off by the same amount has another clock. A difference of quarters of an hour
is a time zone; anything else is skew, and is believed only on several events that agree.
"""

from __future__ import annotations

import polars as pl
from msgspec import Struct

_SHARED = (
    "watchdog_timeout",
    "watchdog_progress",
    "dump_signal",
    "dump_signal_first",
    "dump_signal_observed",
)

_QUARTER_S = 900.0

#: Zones are told only where the rest is small: reports of one event lie seconds apart.
_ZONE_REST_S = 120.0

#: Below this a difference is how reports spread, not how clocks differ.
_SKEW_S = 5.0
_AGREE_S = 2.0
_EVENTS = 3


class Shift(Struct, frozen=True):
    log: int
    source: str
    host: str | None
    seconds: float
    """How far this log's clock is ahead of the others'."""
    events: int
    sentence: str


def shifts(events: pl.DataFrame, logs: pl.DataFrame) -> list[Shift]:
    """Logs whose clock is not that of most."""
    shared = events.filter(
        pl.col("kind").cast(pl.String).is_in(_SHARED)
        & pl.col("time_quality").cast(pl.String).is_in(["wall", "zoned", "no_year"])
        & (pl.col("role") != "echo")
    ).with_columns(
        pl.when(pl.col("kind").cast(pl.String).str.starts_with("dump"))
        .then(None)
        .otherwise("seq")
        .alias("of")
    )
    if shared["log"].n_unique() < 2:
        return []
    thing = ["kind", "group_name", "group_desc", "of", "op"]
    firsts = shared.group_by(*thing, "log").agg(pl.col("time_ns").min())
    common = firsts.filter(pl.col("log").n_unique().over(thing) > 1)
    if not common.height:
        return []
    off = common.with_columns(
        ((pl.col("time_ns") - pl.col("time_ns").median().over(thing)) / 1e9).alias("off")
    )
    by_log = off.group_by("log").agg(
        pl.col("off").median().alias("seconds"),
        (pl.col("off").max() - pl.col("off").min()).alias("spread"),
        pl.len().alias("events"),
    ).sort("log")  # fmt: skip
    base = by_log["seconds"].sort().to_list()[(by_log.height - 1) // 2]
    found: list[Shift] = []
    for log, seconds, spread, count in by_log.iter_rows():
        ahead = seconds - base
        quarters = round(ahead / _QUARTER_S)
        is_zone = quarters != 0 and abs(ahead - quarters * _QUARTER_S) <= _ZONE_REST_S
        agrees = count >= _EVENTS and spread <= _AGREE_S
        if not is_zone and (abs(ahead) < _SKEW_S or not agrees):
            continue
        row = logs.row(by_predicate=pl.col("log") == log, named=True)
        seconds = quarters * _QUARTER_S if is_zone else ahead
        sentence = _words(row["host"], seconds, is_zone, count)
        found.append(Shift(log, row["source"], row["host"], seconds, count, sentence))
    return found


def _words(host: str | None, seconds: float, is_zone: bool, events: int) -> str:
    who = f"the clock of {host}" if host else "its clock"
    way = "ahead of" if seconds > 0 else "behind"
    told = f"told by {events} event{'s' if events > 1 else ''} that the logs share"
    if is_zone:
        hours = abs(seconds) / 3600
        return f"{who} is {hours:g} h {way} the other logs', as another time zone is ({told})"
    return f"{who} is about {abs(seconds):.0f} s {way} the other logs' ({told})"
