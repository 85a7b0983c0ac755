"""One rank's calls by the ring and by torch's own recorder: one of them counts, and the two are never set against."""

from __future__ import annotations

from msgspec.structs import replace

from rankandfile.evidence.owners.attempts import attempts
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


def test_copies_for_torch_s_tools_are_no_witness_beside_their_ring() -> None:
    """Of one rank the copy begins at another number, and its call lies before those of the others: no earlier run."""
    ring = facts("case/evidence/rings/a.ring", "nccl", last=NOW - 59 * SECOND)
    copies = [
        facts("case/fr_trace/rank_0", "nccl", last=NOW - 59 * SECOND),
        facts("case/fr_trace.txt", "nccl"),
    ]
    found = attempts(
        [ring, *copies, replace(facts("case/evidence/rings/b.ring", "nccl"), rank=1, first_ns=NOW)]
    )
    assert found.set_aside == (None, *[f"made of {ring.source}, which is read itself"] * 2, None)


def test_a_copy_alone_is_read() -> None:
    assert attempts([facts("fr_trace/rank_0", "nccl")]).set_aside == (None,)
