"""Flight Recorder dumps in torch's JSON form.

It differs from the pickle in small ways that readers trip over: keys are sorted, there are no stacks, the
group is a list, the status numbers are strings, a missing time is 0, and a dump without calls has no
`entries` at all.
"""

from __future__ import annotations

import json
from typing import Any

from rankandfile.lab.flight_writer_types import STATUS_KEYS, VERSIONS, Dump, Entry, Fields, Kind, wanted


def write_json(
    dump: Dump, version: str = "2.10", *, include_collectives: bool = True, only_active: bool = False
) -> bytes:
    """What `_dump_nccl_trace_json` or `_dump_fr_trace_json` would return; torch has it since version 2.4."""
    fields = VERSIONS[version]
    if not fields.status:
        raise ValueError(f"torch wrote no JSON at format version {version}")
    document: dict[str, Any] = {
        "version": version,
        "pg_config": {
            key: {"name": group.name, "desc": group.desc, "ranks": group.ranks_text()}
            for key, group in dump.pg_config.items()
        },
        "pg_status": {
            key: {name: str(value) for name, value in zip(STATUS_KEYS, status, strict=True)}
            for key, status in dump.pg_status.items()
        },
        "nccl_comm_state": {key: dict(values) for key, values in dump.comm_state.items()},
    }
    if fields.library_key is not None:
        document[fields.library_key] = dump.comm_lib_version
    entries = wanted(dump.entries, only_active=only_active) if include_collectives else ()
    if entries:
        document["entries"] = [_entry(entry, dump.kinds[entry.kind], fields) for entry in entries]
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _entry(entry: Entry, kind: Kind, fields: Fields) -> dict[str, Any]:
    out: dict[str, Any] = {
        "record_id": entry.record_id,
        "pg_id": kind.pg_id,
        "process_group": [kind.group, kind.desc],
        "collective_seq_id": entry.collective_seq_id,
        "p2p_seq_id": entry.p2p_seq_id,
        "op_id": entry.op_id,
        "profiling_name": kind.op,
        "time_created_ns": entry.time_created_ns,
        "input_sizes": kind.input_sizes,
        "input_dtypes": kind.input_dtypes,
        "output_sizes": kind.output_sizes,
        "output_dtypes": kind.output_dtypes,
        "state": entry.state,
        "time_discovered_started_ns": entry.started_ns or 0,
        "time_discovered_completed_ns": entry.completed_ns or 0,
        "retired": entry.retired,
        "timeout_ms": kind.timeout_ms,
        "is_p2p": kind.is_p2p,
    }
    if fields.threads:
        out |= {"thread_name": kind.thread_name, "thread_id": kind.thread_id}
    if entry.duration_ms is not None:
        out["duration_ms"] = entry.duration_ms
    return out
