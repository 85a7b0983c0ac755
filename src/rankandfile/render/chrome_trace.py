"""The timeline in the Chrome trace event format, for chrome://tracing, Perfetto and speedscope.

A process for each rank, a thread for each of its groups and one for what never ended, and arrows along each collective.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import polars as pl

from .timeline import Timeline
from .words import plain

Event = dict[str, Any]

#: Names of chrome://tracing's own colours.
_COLOURS = {"completed": "good", "ended": "generic_work", "started": "bad", "issued": "terrible"}


def chrome_trace(timeline: Timeline) -> Iterator[str]:
    """The document in pieces, an event a line: the trace of a big job need not be held as a whole."""
    about = {"producer": "Rank & File", "clock": timeline.clock, "ranks_left_out": timeline.left_out}
    about["begin_ns"] = str(timeline.begin_ns)
    yield f'{{"displayTimeUnit":"ms","otherData":{_json(about)},"traceEvents":[\n'
    for number, event in enumerate(_events(timeline)):
        yield (",\n" if number else "") + _json(event)
    yield "\n]}\n"


def _events(timeline: Timeline) -> Iterator[Event]:
    lanes = timeline.slices.select("rank", "group", "group_label", "unfinished").unique(maintain_order=True)
    for rank in lanes["rank"].unique().sort():
        role = timeline.roles.get(rank)
        yield _named("process_name", rank, 0, f"rank {rank}" + (f": {role}" if role else ""))
        yield {"ph": "M", "name": "process_sort_index", "pid": rank, "tid": 0, "args": {"sort_index": rank}}
    for rank, group, label, unfinished in lanes.iter_rows():
        yield _named("thread_name", rank, lane(group, unfinished), lane_name(label, unfinished))
    flows = _flow_ends(timeline.slices)
    for row in timeline.slices.iter_rows(named=True):
        yield from _slice(row, timeline, flows)
    for moment in timeline.moments:
        at = (moment.at_ns - timeline.begin_ns) / 1000
        yield {
            "ph": "i", "name": plain(moment.name), "cat": "verdict", "ts": at, "s": "g" if moment.rank is None else "p",
            "pid": moment.rank or 0, "tid": 0, "args": {"verdict": moment.says},
        }  # fmt: skip


def _slice(row: dict[str, Any], timeline: Timeline, flows: dict[int, tuple[int, int]]) -> Iterator[Event]:
    begin = (row["start_ns"] - timeline.begin_ns) / 1000
    end = row["end_ns"] if row["end_ns"] is not None else timeline.end_ns
    place: Event = {"pid": row["rank"], "tid": lane(row["group"], row["unfinished"]), "ts": begin}
    told = ("group_label", "seq", "state", "sizes", "place", "evidence")
    yield {
        "ph": "X", "name": plain(row["name"]), "cat": row["state"], **place,
        "dur": max(0.0, (end - row["start_ns"]) / 1000), "cname": _COLOURS[row["state"]],
        "args": {name: plain(str(row[name])) for name in told if row[name] is not None},
    }  # fmt: skip
    flow = row["flow"]
    if flow is not None:
        first, last = flows[flow]
        step = "s" if row["rank"] == first else "f" if row["rank"] == last else "t"
        bind = {"bp": "e"} if step == "f" else {}
        yield {"ph": step, "id": flow, "name": "collective", "cat": "collective", **place, **bind}


def _flow_ends(slices: pl.DataFrame) -> dict[int, tuple[int, int]]:
    """The ranks at which the arrow along each collective begins and ends: the first and the last to ask for it."""
    ends = (
        slices.filter(pl.col("flow").is_not_null())
        .sort("start_ns", "rank")
        .group_by("flow")
        .agg(pl.col("rank").first().alias("first"), pl.col("rank").last().alias("last"))
    )
    return {flow: (first, last) for flow, first, last in ends.iter_rows()}


def lane(group: int, unfinished: bool) -> int:
    return 2 * group + 1 + unfinished


def lane_name(label: str, unfinished: bool) -> str:
    return plain(f"{label}: never ended" if unfinished else label)


def _named(kind: str, rank: int, thread: int, name: str) -> Event:
    return {"ph": "M", "name": kind, "pid": rank, "tid": thread, "args": {"name": name}}


def _json(value: Event) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
