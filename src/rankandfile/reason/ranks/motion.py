"""Frozen or moving: what several snapshots of one process in time tell.

Moving is proved by two snapshots that differ. Frozen is not: a process that spends nearly all its time on one line
of a loop is seen on that line whenever someone looks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import polars as pl

from rankandfile.model.column import Row

from .activity import (
    CodePlace,
    at,
    classify,
    places_of,
    short_function,
    way,
)

#: A thread that waits in one of these turns in a small circle of library frames without getting anywhere.
_POLLS = {"data_loader", "lock", "queue", "thread", "subprocess", "collective", "p2p", "sleep", "network_io"}


#: Looks that lie further apart were not stamped by one kind of clock.
_MOST_NS = 30 * 86_400 * 1_000_000_000


class Motion(NamedTuple):
    rank: int | None
    host: str | None
    pid: int | None
    kind: Literal["frozen", "moving"]
    snapshots: int
    running: bool | None
    """It was running whenever someone looked: it computes, or spins. None if no snapshot tells."""
    under: str
    """The innermost frame that all snapshots share: where it stands, or what it moves under."""
    apart_ns: int | None = None
    """From the first snapshot to the last; None: nothing tells when they were taken."""


def motions(rows: pl.DataFrame, stacks: pl.DataFrame, frames: pl.DataFrame) -> list[Motion]:
    """Per process, from the rows that tell (see `telling`); processes that were seen once are left out."""
    seen = rows.filter(pl.col("shows") == "now").sort("ordinal", "file")
    places = {
        number: way(found) for number, _, found in places_of(seen["stack"].unique().sort(), stacks, frames)
    }
    known: dict[tuple[int, ...], _Seen] = {}
    out: list[Motion] = []
    for process in _processes(seen):
        if len(process) < 2:
            continue
        # Most ranks of a job stand in the same few places: what those tell is worked out once.
        numbers = tuple(row["stack"] for row in process)
        if numbers not in known:
            known[numbers] = _seen([places[number] for number in numbers])
        out.append(_motion(process, known[numbers]))
    return out


def _processes(seen: pl.DataFrame) -> list[list[Row]]:
    """The snapshots of each process: of a rank's own one, or of one that is known by its number."""
    told = [name for name in ("at_ns", "written_ns") if name in seen.columns]
    seen = seen.select("rank", "host", "pid", "role", "active", "stack", *told)
    own = seen.filter(pl.col("rank").is_not_null() & (pl.col("role") != "worker"))
    rest = seen.filter(
        (pl.col("rank").is_null() | (pl.col("role") == "worker")) & pl.col("pid").is_not_null()
    )
    found: dict[tuple[object, ...], list[Row]] = {}
    for row in own.iter_rows(named=True):
        found.setdefault((row["rank"],), []).append(row)
    for row in rest.iter_rows(named=True):
        found.setdefault((row["rank"], row["host"], row["pid"]), []).append(row)
    return list(found.values())


class _Seen(NamedTuple):
    kind: Literal["frozen", "moving"]
    under: str


def _seen(taken: Sequence[list[CodePlace]]) -> _Seen:
    keys = [[_key(place) for place in reversed(places)] for places in taken]
    shared = 0
    while all(len(key) > shared for key in keys) and len({key[shared] for key in keys}) == 1:
        shared += 1
    kind: Literal["frozen", "moving"] = "frozen" if _stands(taken, keys, shared) else "moving"
    under = ""
    if shared:
        place = taken[0][len(taken[0]) - shared]
        under = f"{short_function(place.function)}, {at(place)}"
    return _Seen(kind, under)


def _motion(rows: Sequence[Row], seen: _Seen) -> Motion:
    active = [row["active"] for row in rows if row["active"] is not None]
    return Motion(
        rows[0]["rank"],
        rows[0]["host"],
        next((row["pid"] for row in rows if row["pid"] is not None), None),
        seen.kind,
        len(rows),
        all(active) if active else None,
        seen.under,
        _apart_ns(rows),
    )


def _apart_ns(rows: Sequence[Row]) -> int | None:
    """By the stamps of all, else by the times of their files: one kind of clock is not measured against another."""
    for clock in ("at_ns", "written_ns"):
        times: list[int | None] = [row.get(clock) for row in rows]
        known = [time for time in times if time is not None]
        apart = max(known) - min(known) if len(known) == len(times) else None
        if apart is not None and apart < _MOST_NS:
            return apart
    return None


def _stands(
    taken: Sequence[list[CodePlace]], keys: Sequence[list[tuple[str, str, int]]], shared: int
) -> bool:
    if all(len(key) == shared for key in keys):
        return True
    doings = [classify(places) for places in taken]
    if any(doing is None or doing.activity not in _POLLS for doing in doings):
        return False
    # The same wait, asked for on the same line, whatever turns inside the library.
    sites = {
        len(places) - doing.site for places, doing in zip(taken, doings, strict=True) if doing is not None
    }
    return len({doing.activity for doing in doings if doing is not None}) == 1 and max(sites) <= shared


def _key(place: CodePlace) -> tuple[str, str, int]:
    """The same place by whichever tool: py-spy adds the class to a name, and shortens paths."""
    return short_function(place.function), at(place), place.line
