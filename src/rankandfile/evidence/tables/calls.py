"""The table of calls: the dumps' columns laid end to end, and what each call's kind says looked up once."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from rankandfile.evidence.raw import INTEGERS, NULL, Kind
from rankandfile.evidence.tables.groups import RecordedGroup
from rankandfile.evidence.tables.part import Part
from rankandfile.evidence.tables.repeated import Numbers, Repeated, kind_table, number
from rankandfile.model.tables import CALLS, schema

Filled = tuple[Part, list[int]]
"""A dump that has calls, and which of the case's groups each of its own is."""

_ROOT = re.compile(r" root (?P<root>\d{1,7})(?: [A-Z_]+)?$")
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
    counts = [part.raw.calls for part, _ in filled]
    found = _by_kind(filled, numbers, groups, tables)[pl.Series(_kinds(filled))].with_columns(
        pl.Series("duration_ms", _durations(filled, sum(counts)), nan_to_null=True),
        *(_integers(name, filled, sum(counts)) for name in INTEGERS),
    )
    return found.select([column.name for column in CALLS])


def _by_kind(
    filled: Sequence[Filled], numbers: dict[int, int], groups: list[RecordedGroup], tables: Repeated
) -> pl.DataFrame:
    """What is the same for all calls of a kind, a row for each kind of each dump: one look-up fills all columns."""
    rows, group, thread, src, dst, root = [], [], [], [], [], []
    for part, of in filled:
        own, local_groups, local_threads = tables.kinds_of(part)
        own_groups = np.array(of, np.uint32)[local_groups]
        threads = np.array([number(tables.threads, label) for label in part.raw.threads], np.uint32)
        peers = _peers(part.kinds, own_groups, groups)
        rows.append(own)
        group.append(own_groups)
        thread.append(threads[local_threads])
        src.append(peers[0])
        dst.append(peers[1])
        root.append(_roots(part.kinds, own_groups, groups))
    counts = list(map(len, rows))
    names = pl.Series("thread", list(tables.threads), dtype=pl.Categorical)
    return kind_table(tables)[pl.Series(np.concatenate(rows))].with_columns(
        pl.Series("rank", np.repeat(np.array([part.rank for part, _ in filled], np.int32), counts)),
        pl.Series("dump", np.repeat(np.array([numbers[id(part)] for part, _ in filled], np.uint32), counts)),
        pl.Series("group", np.concatenate(group)),
        _nullable(pl.Series("src", np.concatenate(src)), -1),
        _nullable(pl.Series("dst", np.concatenate(dst)), -1),
        _nullable(pl.Series("root", np.concatenate(root)), -1),
        names[pl.Series(np.concatenate(thread))].alias("thread"),
    )


def _kinds(filled: Sequence[Filled]) -> Numbers:
    """Of each call, its row among the kinds of all dumps."""
    found = np.empty(sum(part.raw.calls for part, _ in filled), np.uint32)
    at = first = 0
    for part, _ in filled:
        np.add(part.kind_of_calls, np.uint32(first), out=found[at : at + part.raw.calls])
        at += part.raw.calls
        first += len(part.kinds)
    return found


def _integers(name: str, filled: Sequence[Filled], count: int) -> pl.Series:
    found = np.empty(count, np.int64)
    at = 0
    for part, _ in filled:
        found[at : at + part.raw.calls] = part.column(name)
        at += part.raw.calls
    return _nullable(pl.Series(name, found))


def _durations(filled: Sequence[Filled], count: int) -> npt.NDArray[np.float64]:
    found = np.full(count, np.nan)
    at = 0
    for part, _ in filled:
        if part.raw.durations_ms:
            found[at : at + part.raw.calls] = np.frombuffer(part.raw.durations_ms)
        at += part.raw.calls
    return found


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


def _roots(kinds: list[Kind], groups_of: Numbers, groups: list[RecordedGroup]) -> npt.NDArray[np.int32]:
    """The root of each kind, where the recorder keeps it, as a global rank; -1 elsewhere."""
    found = np.full(len(kinds), -1, np.int32)
    for row, kind in enumerate(kinds):
        match = _ROOT.search(kind.name) if not kind.is_p2p else None
        members = groups[groups_of[row]].members
        if match is not None and members is not None and int(match["root"]) < len(members):
            found[row] = members[int(match["root"])]
    return found
