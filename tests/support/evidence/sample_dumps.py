"""Dumps for tests: small jobs written as torch writes them, and their calls as the recorder would print them."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rankandfile.evidence.flight import header
from rankandfile.evidence.tables.assemble import assemble
from rankandfile.evidence.tables.part import Part
from rankandfile.lab.flight_writer import write_pickle
from rankandfile.lab.flight_writer_types import Dump, Entry, Frame, GroupConfig, GroupStatus, Kind
from rankandfile.model.case import Case

NOW = 1_760_000_000_000_000_000
MILLISECOND = 1_000_000
TORCH = "/usr/lib/python3/dist-packages/torch/distributed/distributed_c10d.py"

WORLD = GroupConfig("0", "default_pg", (0, 1, 2, 3))


def frames(function: str, line: int) -> tuple[Frame, ...]:
    return (
        Frame("all_reduce", TORCH, 2810),
        Frame(function, "/job/train.py", line),
        Frame("<module>", "/job/train.py", 90),
    )


REDUCE = Kind(
    0,
    "0",
    "default_pg",
    "nccl:all_reduce",
    ((4, 8),),
    ("Float",),
    ((4, 8),),
    ("Float",),
    frames=frames("step", 31),
)
GATHER = Kind(
    1,
    "1",
    "mesh_tp",
    "nccl:_all_gather_base",
    ((16,), ()),
    ("BFloat16", "Long"),
    ((32,), ()),
    ("BFloat16", "Long"),
    timeout_ms=1_800_000,
    frames=frames("forward", 12),
    thread_name="pt_autograd_0",
    thread_id="7311",
)


def tp_group(rank: int) -> GroupConfig:
    first = rank - rank % 2
    return GroupConfig(str(1 + rank // 2), "mesh_tp", (first, first + 1))


def job(calls: int = 6, ranks: int = 4) -> dict[int, Dump]:
    """A healthy job but for its last call: world and pair ops in turn, the last still under way."""
    return {rank: one_rank(rank, calls) for rank in range(ranks)}


def one_rank(rank: int, calls: int = 6, backend: str = "nccl") -> Dump:
    pair = tp_group(rank)
    kinds = [
        REDUCE._replace(op=f"{backend}:all_reduce"),
        GATHER._replace(op=f"{backend}:_all_gather_base", group=pair.name),
    ]
    entries = []
    for record in range(calls):
        made = NOW + record * 5 * MILLISECOND + rank
        last = record == calls - 1
        entries.append(
            Entry(
                kind=record % 2,
                record_id=record,
                collective_seq_id=1 + record // 2,
                p2p_seq_id=0,
                op_id=1 + record // 2,
                time_created_ns=made,
                started_ns=made + MILLISECOND,
                completed_ns=None if last else made + 2 * MILLISECOND,
                retired=not last,
                duration_ms=None if last else 0.5 + record,
            )
        )
    status = {"0": GroupStatus((calls + 1) // 2, (calls + 1) // 2, (calls + 1) // 2 - calls % 2)}
    status["1"] = GroupStatus(calls // 2, calls // 2, calls // 2 - (1 - calls % 2))
    return Dump(kinds, entries, {"0": WORLD, pair.name: pair}, status, "2.27.3")


def with_calls(dump: Dump, *calls: tuple[Kind, Entry]) -> Dump:
    """The same dump with other calls."""
    kinds = list(dict.fromkeys(kind for kind, _ in calls))
    entries = [entry._replace(kind=kinds.index(kind)) for kind, entry in calls]
    return replace(dump, kinds=kinds, entries=entries)


def call(record: int, seq: int = 1, p2p: int = 0, **more: Any) -> Entry:
    return Entry(0, record, seq, p2p, more.pop("op_id", seq), NOW + record, **more)


def plain(dump: Dump, version: str = "2.10") -> dict[str, Any]:
    """What a pickle of the dump holds: an object to break in tests."""
    loaded: dict[str, Any] = pickle.loads(write_pickle(dump, version))
    return loaded


def case_of_objects(dumps: Mapping[int, Any], format: str = "pickle") -> Case:
    """A case of loaded dumps by rank, without files."""
    parts = []
    for rank, value in dumps.items():
        raw, _notes = header.decode(value, format)
        assert raw is not None
        parts.append(Part(raw, f"rank_{rank}", rank=rank, rank_from="name"))
    return assemble(parts)


def case_of(dumps: Mapping[int, Dump], version: str = "2.10") -> Case:
    return case_of_objects({rank: plain(dump, version) for rank, dump in dumps.items()})


#: What the recorder's states become, written out here a second time on purpose.
OUR_STATE = {
    ("scheduled", False): "issued",
    ("scheduled", True): "ended",
    ("started", False): "started",
    ("started", True): "ended",
    ("completed", False): "completed",
    ("completed", True): "completed",
}


def as_recorded(case: Case, dump: int) -> list[dict[str, Any]]:
    """The calls of a dump in the recorder's own words, put together from the case's tables."""
    groups = {row["group"]: row for row in case.groups.iter_rows(named=True)}
    shapes = {row["shape"]: row for row in case.shapes.iter_rows(named=True)}
    stacks = {row["stack"]: row["frames"] for row in case.stacks.iter_rows(named=True)}
    lines = {row["frame"]: row for row in case.frames.iter_rows(named=True)}
    found = []
    for row in case.calls.filter(case.calls["dump"] == dump).iter_rows(named=True):
        shape = shapes[row["shape"]]
        found.append(
            {
                "record_id": row["record"],
                "process_group": (groups[row["group"]]["name"], groups[row["group"]]["desc"]),
                "collective_seq_id": row["seq"],
                "p2p_seq_id": row["p2p_seq"],
                "op_id": row["op_id"],
                "profiling_name": row["name"],
                "time_created_ns": row["created_ns"],
                "duration_ms": row["duration_ms"],
                "input_sizes": shape["in_sizes"],
                "input_dtypes": shape["in_dtypes"],
                "output_sizes": shape["out_sizes"],
                "output_dtypes": shape["out_dtypes"],
                "state": row["state"],
                "time_discovered_started_ns": row["started_ns"],
                "time_discovered_completed_ns": row["completed_ns"],
                "retired": row["retired"],
                "timeout_ms": row["timeout_ms"],
                "is_p2p": row["is_p2p"],
                "thread": row["thread"],
                "frames": None
                if row["stack"] is None
                else [
                    {"name": lines[n]["function"], "filename": lines[n]["file"], "line": lines[n]["line"]}
                    for n in stacks[row["stack"]]
                ],
            }
        )
    return found


def recorded(entries: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Entries as a plain load gives them, in the form of `as_recorded`. Every field of format 2.10 is there."""
    return [
        {
            **{key: value for key, value in entry.items() if key not in _TRANSLATED},
            "process_group": tuple(entry["process_group"]),
            "duration_ms": entry.get("duration_ms"),
            "state": OUR_STATE[entry["state"], entry["retired"]],
            "time_discovered_started_ns": entry["time_discovered_started_ns"] or None,
            "time_discovered_completed_ns": entry["time_discovered_completed_ns"] or None,
            "thread": f"{entry['thread_name']} {entry['thread_id']}",
            "frames": entry.get("frames"),
        }
        for entry in entries
    ]


#: A process's own group number joins nothing across ranks, and is not kept; thread name and id are one column.
_TRANSLATED = {"pg_id", "thread_name", "thread_id"}


def only(values: Sequence[Any]) -> Any:
    assert len(values) == 1, values
    return values[0]
