"""The table of calls: the dumps' columns laid end to end, and what each call's kind says looked up once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from rankandfile.evidence.raw import INTEGERS, NULL, Kind
from rankandfile.evidence.tables.groups import RecordedGroup
from rankandfile.evidence.tables.part import Part
from rankandfile.evidence.tables.repeated import Numbers, Repeated, kind_table, number
from rankandfile.model.tables import CALLS, schema

_P2P = re.compile(r"(?P<op>send|recv) (?P<self>\d{1,7})(?P<arrow>->|<-)(?P<peer>\d{1,7})$")


def call_table(
    parts: Sequence[Part],
    numbers: dict[int, int],
    groups_of: list[list[int]],
    groups: list[RecordedGroup],
    tables: Repeated,
) -> pl.DataFrame:
    filled = [(part, of) for part, of in zip(parts, groups_of, strict=True) if part.raw.calls]
    if not filled:
        return pl.DataFrame(schema=schema("calls"))
    kinds: list[Numbers] = []
    group: list[Numbers] = []
    thread: list[Numbers] = []
    src: list[npt.NDArray[np.int32]] = []
    dst: list[npt.NDArray[np.int32]] = []
    for part, of in filled:
        rows, local_groups, local_threads = tables.kinds_of(part)
        kind = np.frombuffer(part.raw.kinds, np.uint32)
        kind_group = np.array(of, np.uint32)[local_groups]
        threads = np.array([number(tables.threads, label) for label in part.raw.threads], np.uint32)
        peers = _peers(part.kinds, kind_group, groups)
        kinds.append(rows[kind])
        group.append(kind_group[kind])
        thread.append(threads[local_threads][kind])
        src.append(peers[0][kind])
        dst.append(peers[1][kind])
    counts = [part.raw.calls for part, _ in filled]
    integers = {
        name: _nullable(pl.Series(name, np.concatenate([part.column(name) for part, _ in filled])))
        for name in INTEGERS
    }
    by_kind = kind_table(tables)[pl.Series(np.concatenate(kinds))]
    names = pl.Series("thread", list(tables.threads), dtype=pl.Categorical)
    found = by_kind.with_columns(
        pl.Series("rank", np.repeat(np.array([part.rank for part, _ in filled], np.int32), counts)),
        pl.Series("dump", np.repeat(np.array([numbers[id(part)] for part, _ in filled], np.uint32), counts)),
        pl.Series("group", np.concatenate(group)),
        _nullable(pl.Series("src", np.concatenate(src)), -1),
        _nullable(pl.Series("dst", np.concatenate(dst)), -1),
        names[pl.Series(np.concatenate(thread))].alias("thread"),
        pl.Series("duration_ms", _durations(filled), nan_to_null=True),
        pl.lit(None, pl.Int32).alias("root"),
        *integers.values(),
    )
    return found.select([column.name for column in CALLS])


def _durations(filled: Sequence[tuple[Part, Any]]) -> npt.NDArray[np.float64]:
    return np.concatenate(
        [
            np.frombuffer(part.raw.durations_ms) if part.raw.durations_ms else np.full(part.raw.calls, np.nan)
            for part, _ in filled
        ]
    )


def _nullable(values: pl.Series, null: int = NULL) -> pl.Series:
    missing = values == null
    return values.set(missing, None) if missing.any() else values


def _peers(
    kinds: list[Kind], groups_of: Numbers, groups: list[RecordedGroup]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Sender and receiver of each kind, as global ranks where the group's members are known; -1 elsewhere.

    The recorder names both by their rank *within the group*.
    """
    src = np.full(len(kinds), -1, np.int32)
    dst = np.full(len(kinds), -1, np.int32)
    for row, kind in enumerate(kinds):
        match = _P2P.search(kind.name) if kind.is_p2p else None
        members = groups[groups_of[row]].members
        if match is None or members is None:
            continue
        own, peer = int(match["self"]), int(match["peer"])
        if own < len(members) and peer < len(members):
            ends = (members[own], members[peer])
            src[row], dst[row] = ends if match["op"] == "send" else ends[::-1]
    return src, dst
