"""One rank's calls by the ring and by torch's own recorder: one of them counts, and the two are never set against."""

from __future__ import annotations

from rankandfile.evidence.owners.dump_facts import Facts
from rankandfile.evidence.owners.several_files import settle

SECOND = 1_000_000_000
NOW = 1_795_000_000 * SECOND


def facts(source: str, backend: str, last: int = NOW, frames: bool = True) -> Facts:
    return Facts(
        source=source, rank=0, backend=backend, calls=9, first_record=3, last_record=11,
        first_ns=NOW - 60 * SECOND, last_ns=last, has_frames=frames,
    )  # fmt: skip


def kept(*found: Facts) -> list[str]:
    reasons: list[str | None] = [None] * len(found)
    settle(found, reasons)
    return [one.source for one, reason in zip(found, reasons, strict=True) if reason is None]


def test_torch_knows_more_of_a_device() -> None:
    assert kept(facts("a.ring", "nccl"), facts("nccl_trace_rank_0", "nccl")) == ["nccl_trace_rank_0"]


def test_a_ring_knows_more_of_gloo_and_where_torch_has_no_stacks_or_stopped_before() -> None:
    ring = facts("a.ring", "gloo")
    assert kept(ring, facts("fr_trace_rank_0.json", "gloo")) == ["a.ring"]
    ring = facts("a.ring", "nccl")
    assert kept(ring, facts("fr_trace_rank_0.json", "nccl", frames=False)) == ["a.ring"]
    assert kept(ring, facts("nccl_trace_rank_0", "nccl", last=NOW - 9 * SECOND)) == ["a.ring"]
