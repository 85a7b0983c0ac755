"""Real runs: each hangs as stated, its twin does not, and the recorder agrees with the independent call log."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from support.selected import in_lab

from rankandfile.lab import calls, catalog, truth

Incident = Callable[..., Path]
pytestmark = [pytest.mark.slow, pytest.mark.torch]

IN_SUITE = sorted(s.name for s in catalog.scenarios() if s.in_suite)
TWINS = ["nan_batch_skipped", "checkpoint_lock_held", "order_inversion_dp_tp"]
HERE = ("nan_batch_skipped",)
# Names under which gloo's recorder files what was really called.
RECORDED_AS = {"reduce_scatter": "all_reduce"}


def recorded(path: Path) -> list[dict[str, object]]:
    """Entries of a dump that this test session's own run has written."""
    data = path.read_bytes()
    content = json.loads(data) if data[:1] == b"{" else pickle.loads(data)
    entries: list[dict[str, object]] = content.get("entries", [])
    return entries


@pytest.mark.parametrize("name", in_lab(IN_SUITE, HERE))
def test_the_hang_leaves_what_an_incident_leaves(incident: Incident, name: str) -> None:
    folder, scenario = incident(name), catalog.get(name)
    known = truth.read(folder)
    assert known.culprits == list(scenario.culprits) and known.cause == scenario.cause
    exits = json.loads((folder / "evidence" / "exits.json").read_text())
    assert [row["rank"] for row in exits] == list(range(scenario.world_size))
    running = {row["rank"] for row in exits if row["state"] == "running"}
    assert scenario.hang == bool(running)
    stacks = folder / "evidence" / "stacks"
    assert {int(p.stem.rsplit("_", 1)[1]) for p in stacks.glob("faulthandler_rank_*.txt")} <= running
    assert list((folder / "evidence" / "logs").iterdir())
    assert "train.py" in {p.name for p in (folder / "src").iterdir()}


@pytest.mark.parametrize("name", in_lab(IN_SUITE, HERE))
def test_recorder_and_call_log_agree(incident: Incident, name: str) -> None:
    folder = incident(name)
    log = calls.read(folder / "calls.jsonl")
    dumps = sorted((folder / "evidence" / "dumps").iterdir())
    assert dumps
    for dump in dumps:
        rank = int("".join(c for c in dump.name if c.isdigit()))
        mine = {
            (c.group, c.seq): RECORDED_AS.get(c.op, c.op) for c in log.calls if c.rank == rank and c.seq > 0
        }
        theirs = {
            (e["process_group"][0], e["collective_seq_id"]): str(e["profiling_name"]).split(":")[1]  # type: ignore[index]
            for e in recorded(dump)
        }
        assert theirs and all(mine.get(key) == op for key, op in theirs.items())


@pytest.mark.parametrize("name", in_lab(IN_SUITE, HERE))
def test_divergence_is_where_the_calls_part(incident: Incident, name: str) -> None:
    folder = incident(name)
    known, log = truth.read(folder), calls.read(folder / "calls.jsonl")
    for cohort in known.divergence.cohorts:
        for rank in truth.long_ranks(cohort.ranks):
            there = [
                c
                for c in log.calls
                if c.rank == rank and c.group == cohort.group and c.seq == known.divergence.seq
            ]
            if not cohort.op:
                assert not there
            elif known.divergence.kind != "cycle":
                assert [(c.op, c.stack[0][0], c.stack[0][1]) for c in there] == [
                    (cohort.op, cohort.file, cohort.line)
                ]
    if known.location:
        lines = (folder / "src" / known.location.file).read_text().splitlines()
        assert known.location.condition in lines[known.location.line - 1]


@pytest.mark.parametrize("name", in_lab(TWINS, TWINS[:1]))
def test_the_fix_makes_it_healthy(incident: Incident, name: str) -> None:
    folder = incident(name, twin=True)
    known = truth.read(folder)
    assert known.cause == "no_hang" and not known.culprits
    exits = json.loads((folder / "evidence" / "exits.json").read_text())
    assert all(row["exitcode"] == 0 for row in exits)
    per_rank = Counter(c.rank for c in calls.read(folder / "calls.jsonl").calls)
    assert len(set(per_rank.values())) == 1 and len(per_rank) == known.world_size
