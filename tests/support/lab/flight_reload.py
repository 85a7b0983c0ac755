"""Turn what torch dumped into what the writers take, so that writing it again must give the same bytes."""

from __future__ import annotations

import json
import pickle
from typing import Any

from rankandfile.lab.flight_writer_types import (
    STATUS_KEYS,
    Dump,
    Entry,
    Frame,
    GroupConfig,
    GroupStatus,
    Kind,
)


def reload_pickle(data: bytes) -> Dump:
    """Only ever used on dumps the test itself has just made."""
    return _reload(pickle.loads(data))


def reload_json(data: bytes) -> Dump:
    return _reload(json.loads(data))


def _nested(values: list[list[int]]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(v) for v in values)


def _reload(doc: dict[str, Any]) -> Dump:
    kinds: dict[Kind, int] = {}
    entries = []
    frames: dict[int, Frame] = {}  # torch's own interning: frames that are one dict are one frame
    for e in doc.get("entries", []):
        kind = Kind(
            pg_id=e["pg_id"],
            group=e["process_group"][0],
            desc=e["process_group"][1],
            op=e["profiling_name"],
            input_sizes=_nested(e["input_sizes"]),
            input_dtypes=tuple(e["input_dtypes"]),
            output_sizes=_nested(e["output_sizes"]),
            output_dtypes=tuple(e["output_dtypes"]),
            timeout_ms=e["timeout_ms"],
            is_p2p=e["is_p2p"],
            frames=tuple(
                frames.setdefault(id(f), Frame(f["name"], f["filename"], f["line"], id(f)))
                for f in e.get("frames", ())
            ),
            thread_name=e["thread_name"],
            thread_id=e["thread_id"],
        )
        entries.append(
            Entry(
                kinds.setdefault(kind, len(kinds)),
                *(e[k] for k in ("record_id", "collective_seq_id", "p2p_seq_id", "op_id", "time_created_ns")),
                e["time_discovered_started_ns"] or None,
                e["time_discovered_completed_ns"] or None,
                e["retired"],
                e.get("duration_ms"),
            )
        )
    return Dump(
        kinds=list(kinds),
        entries=entries,
        pg_config={
            k: GroupConfig(v["name"], v["desc"], _ranks(v["ranks"])) for k, v in doc["pg_config"].items()
        },
        pg_status={
            k: GroupStatus(*(int(v[name]) for name in STATUS_KEYS)) for k, v in doc["pg_status"].items()
        },
        comm_lib_version=doc["comm_lib_version"],
        comm_state=doc.get("nccl_comm_state", {}),
    )


def _ranks(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.strip("[]").split(",") if part.strip())
