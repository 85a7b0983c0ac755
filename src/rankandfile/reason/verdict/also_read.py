"""What else was read of hosts, devices and disks, and is not in an answer: a person would ask for it first."""

from __future__ import annotations

import polars as pl
from msgspec.structs import replace

from rankandfile.model.column import Row
from rankandfile.model.events import event_id
from rankandfile.model.sentence import in_words, told
from rankandfile.reason.facts import Facts
from rankandfile.reason.words import shortened

from .finding import Finding

#: The surest first. None of them is said of a job that only moved.
_KINDS = (
    "xid", "gpu_lost", "npu_fault", "kernel_oom", "slurm_oom", "pod_oom", "ray_oom", "pod_evicted", "pod_ended",
    "node_taken", "pod_unscheduled", "slurm_node_failure", "segfault", "disk_full", "host_lost", "host_unreachable",
    "name_unresolved", "memory_fault", "machine_check", "nfs_stalled", "hung_task", "link_down",
)  # fmt: skip
_MOST, _LONGEST = 3, 150


def with_what_else_was_read(facts: Facts, finding: Finding) -> Finding:
    """Of jobs without recorded calls: records say more than that."""
    if facts.call_table.calls.height or finding.cause == "no_hang":
        return finding
    order = {kind: place for place, kind in enumerate(_KINDS)}
    rows = facts.case.events.filter(pl.col("kind").cast(pl.String).is_in(list(_KINDS)))
    named = in_words(finding.sentence)
    found: dict[str, Row] = {}
    for row in sorted(
        rows.iter_rows(named=True), key=lambda row: (order[str(row["kind"])], row["log"], row["line"])
    ):
        words = shortened(str(row["text"] or ""), _LONGEST)
        if event_id(row["log"], row["line"]) not in finding.evidence and words[:60] not in named:
            found.setdefault(str(row["kind"]), row)
    if not found:
        return finding
    lines = list(found.values())[:_MOST]
    said = "; ".join(f'"{shortened(str(row["text"] or ""), _LONGEST)}"{_of(row)}' for row in lines)
    return replace(
        finding,
        sentence=told(finding.sentence, f"Also read: {said}."),
        evidence=(*finding.evidence, *(event_id(row["log"], row["line"]) for row in lines)),
    )


def _of(row: Row) -> str:
    host = row["host"]
    return f" ({host})" if host and host not in str(row["text"]) else ""
