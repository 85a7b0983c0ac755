"""Damaged evidence: the copy is damaged as stated, the original is not, and the expectations follow."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from rankandfile.lab import truth, variants

Incident = Callable[..., Path]
pytestmark = [pytest.mark.lab, pytest.mark.slow, pytest.mark.torch]

NAME = "nan_batch_skipped"


@pytest.fixture
def original(incident: Incident) -> Path:
    return incident(NAME)


def dump(folder: Path, rank: int) -> dict[str, list[dict[str, object]]]:
    content: dict[str, list[dict[str, object]]] = pickle.loads(
        (folder / "evidence" / "dumps" / f"nccl_trace_rank_{rank}").read_bytes()
    )
    return content


@pytest.mark.parametrize("variant", sorted(variants.VARIANTS))
def test_names_what_is_gone_and_leaves_the_original_alone(
    original: Path, tmp_path: Path, variant: str
) -> None:
    before = {p: p.read_bytes() for p in original.rglob("*") if p.is_file()}
    made = variants.make(original, variant, tmp_path / variant)
    known = truth.read(made)
    assert known.removed == [variant] and known.culprits == [2] and known.name == f"{NAME}~{variant}"
    assert {p: p.read_bytes() for p in original.rglob("*") if p.is_file()} == before
    after = {p.relative_to(made): p.read_bytes() for p in (made / "evidence").rglob("*") if p.is_file()}
    assert after != {p.relative_to(original): b for p, b in before.items() if "evidence" in p.parts}


def test_a_lost_or_cut_dump_of_the_culprit_takes_the_answer_away(original: Path, tmp_path: Path) -> None:
    for variant in ("lost_dump_of_culprit", "truncated_dump", "stale_dump", "only_logs"):
        known = truth.read(variants.make(original, variant, tmp_path / variant))
        assert known.culprits_from_dumps == [] and not known.decidable_from_dumps


def test_a_lost_dump_of_a_victim_does_not(original: Path, tmp_path: Path) -> None:
    made = variants.make(original, "lost_dump_of_victim", tmp_path / "v")
    left = {p.name for p in (made / "evidence" / "dumps").iterdir()}
    assert left == {"nccl_trace_rank_0", "nccl_trace_rank_1", "nccl_trace_rank_2"}
    assert truth.read(made).culprits_from_dumps == [2]


def test_a_wrapped_ring_keeps_the_newest_calls(original: Path, tmp_path: Path) -> None:
    made = variants.make(original, "wrapped_ring", tmp_path / "v")
    for rank in range(4):
        kept, all_of_them = dump(made, rank)["entries"], dump(original, rank)["entries"]
        assert 0 < len(kept) < len(all_of_them) and kept == all_of_them[-len(kept) :]


def test_json_has_torchs_spelling(original: Path, tmp_path: Path) -> None:
    made = variants.make(original, "as_json", tmp_path / "v")
    content = json.loads((made / "evidence" / "dumps" / "fr_trace_json_1.json").read_text())
    entry = content["entries"][-1]
    assert "frames" not in entry and isinstance(entry["process_group"], list)
    assert entry["time_discovered_completed_ns"] == 0 and content["nccl_comm_state"] == {}


def test_skew_moves_one_host_only(original: Path, tmp_path: Path) -> None:
    made = variants.make(original, "clock_skew", tmp_path / "v")
    for rank in range(4):
        old, new = (int(str(dump(f, rank)["entries"][0]["time_created_ns"])) for f in (original, made))
        assert new - old == (187_000_000_000 if rank >= 2 else 0)
