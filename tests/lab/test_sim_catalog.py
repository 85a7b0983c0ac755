"""Every named scenario, from its files: it hangs or it does not, and the truth is what the ranks really issued."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.selected import in_lab

from rankandfile.lab.sim import catalog
from rankandfile.lab.sim.run import SimulationError, play, simulate
from rankandfile.lab.truth import long_ranks, read
from rankandfile.model.causes import CAUSES

pytestmark = pytest.mark.slow

SCENARIOS = catalog.scenarios()
SMALL = [name for name, s in SCENARIOS.items() if s.name not in ("healthy-3d-64", "peers-tp8-dp")]
FAULTY = [name for name in SMALL if SCENARIOS[name].expects_hang]

#: The first of each cause, and a job without one.
HERE = {SCENARIOS[name].faults[0].cause if name in FAULTY else "none": name for name in reversed(SMALL)}
HERE_SMALL = tuple(HERE.values())
HERE_FAULTY = tuple(name for name in HERE_SMALL if name in FAULTY)

Incident = Callable[[str], Path]


@pytest.fixture(scope="module")
def incident(tmp_path_factory: pytest.TempPathFactory) -> Incident:
    """The incident of a scenario, simulated once."""
    folder: Path = tmp_path_factory.mktemp("incidents")

    def of(name: str) -> Path:
        return folder / name if (folder / name).exists() else simulate(name, folder / name)

    return of


def dumps_of(incident: Path) -> dict[int, dict[str, Any]]:
    """The dumps as any reader gets them; they were written a moment ago by this very test."""
    found = {}
    for path in (p for p in (incident / "evidence" / "dumps").rglob("*") if p.is_file()):
        rank = int(path.name.removesuffix(".json").rpartition("_")[2])
        data = path.read_bytes()
        found[rank] = json.loads(data) if path.suffix == ".json" else pickle.loads(data)
    return found


def calls_of(incident: Path) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = {}
    for line in (incident / "calls.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["kind"] == "call":
            found.setdefault(row["rank"], []).append(row)
    return found


def issued(group: str, seq: int, calls: dict[int, list[dict[str, Any]]], rank: int) -> tuple[str, str, int]:
    for call in calls.get(rank, []):
        if (call["group"], call["seq"]) == (group, seq):
            file, line, _ = call["stack"][0]
            return call["op"], file, line
    return "", "", 0


def test_every_cause_of_a_hang_is_there() -> None:
    """One that names no hang of the lab is new, and has none yet: pytest lists it."""
    causes = {s.faults[0].cause for s in SCENARIOS.values() if s.expects_hang}
    named = set(CAUSES) - {"no_hang", "undetermined"}
    assert causes <= named
    lacking = named - causes
    new = {cause for cause in lacking if not CAUSES[cause].scenario}
    assert lacking == new, f"no hang of src/rankandfile/lab/sim/catalog ends in {lacking - new}"
    if new:
        pytest.xfail(f"no hang of src/rankandfile/lab/sim/catalog ends in {new} yet")


@pytest.mark.parametrize("name", in_lab(SMALL, HERE_SMALL))
def test_dumps_hang_if_the_job_does(incident: Incident, name: str) -> None:
    """Something is unfinished in every hang that was dumped, and nothing in a healthy run dumped at its end."""
    scenario, dumps = SCENARIOS[name], dumps_of(incident(name))
    unfinished = [
        entry
        for dump in dumps.values()
        for entry in dump["entries"]
        if entry["state"] != "completed" and not _inside_a_block(entry, dump)
    ]
    expected = scenario.expects_hang or scenario.evidence.snapshot is not None
    assert bool(unfinished) == (bool(dumps) and expected)


def _inside_a_block(entry: dict[str, Any], dump: dict[str, Any]) -> bool:
    """The single calls of a coalescing block never change state; only the entry that closes it does."""
    seq, name = (
        ("p2p_seq_id", "nccl:coalesced") if entry.get("is_p2p") else ("collective_seq_id", "_coalesced")
    )
    return not entry["profiling_name"].endswith("coalesced") and any(
        other["profiling_name"].endswith(name)
        and (other["process_group"], other[seq]) == (entry["process_group"], entry[seq])
        for other in dump["entries"]
        if other["record_id"] > entry["record_id"]
    )


@pytest.mark.parametrize("name", in_lab(FAULTY, HERE_FAULTY))
def test_the_truth_is_what_the_ranks_issued(incident: Incident, name: str) -> None:
    """Against the log of issued calls, which knows nothing of faults."""
    truth, calls = read(incident(name)), calls_of(incident(name))
    divergence = truth.divergence
    assert truth.hang
    assert set(truth.culprits) <= set(range(truth.world_size))
    if divergence.seq and divergence.kind != "cycle":
        told = {rank: cohort for cohort in divergence.cohorts for rank in long_ranks(cohort.ranks)}
        assert set(told) == set(divergence.members)
        for rank, cohort in told.items():
            if cohort.op or truth.cause not in (
                "host_slow",
                "too_short_timeout",
            ):  # these came, but after the dumps
                call = issued(divergence.group, cohort.seq or divergence.seq, calls, rank)
                assert call == (cohort.op, cohort.file, cohort.line)
    if divergence.kind in ("skipped", "absent") and divergence.seq:
        assert {rank for c in divergence.cohorts if not c.op for rank in long_ranks(c.ranks)} <= set(
            truth.culprits
        ) or (truth.cause == "init_stuck")


@pytest.mark.parametrize("name", in_lab(FAULTY, HERE_FAULTY))
def test_the_place_in_the_source_is_in_the_tree_that_is_kept(incident: Incident, name: str) -> None:
    truth = read(incident(name))
    for cohort in truth.divergence.cohorts:
        if cohort.file:
            lines = (incident(name) / "src" / cohort.file).read_text().splitlines()
            assert lines[cohort.line - 1].strip()
    if truth.location is not None:
        lines = (incident(name) / "src" / truth.location.file).read_text().splitlines()
        assert lines[truth.location.line - 1].strip() == truth.location.condition
    assert not any("#@" in path.read_text() for path in (incident(name) / "src").iterdir())


@pytest.mark.parametrize(
    "name", [n for n in FAULTY if "3d" not in n and n not in ("skip-tp-backward", "group-metrics")][::5]
)
def test_the_healthy_twin_ends_and_its_members_do_the_same(tmp_path: Path, name: str) -> None:
    incident = simulate(f"{name}.twin", tmp_path / "twin")
    truth, calls = read(incident), calls_of(incident)
    assert (truth.hang, truth.cause, truth.culprits, truth.twin) == (False, "no_hang", [], True)
    by_group: dict[str, set[tuple[str, ...]]] = {}
    for of_rank in calls.values():
        sequences: dict[str, list[str]] = {}
        for call in of_rank:
            if call["op"] not in ("send", "recv", "coalesced"):
                sequences.setdefault(call["group"], []).append(call["op"])
        for group, ops in sequences.items():
            by_group.setdefault(group, set()).add(tuple(ops))
    assert all(len(variants) == 1 for variants in by_group.values())


def test_the_guilty_leave_no_dump_when_they_raised_or_died(incident: Incident) -> None:
    for name in ("raised-then-destroy", "killed-oom", "raised-ddp", "early-stop-ddp"):
        truth = read(incident(name))
        assert set(range(truth.world_size)) - set(dumps_of(incident(name))) == set(truth.culprits)
        assert not truth.decidable_from_dumps


def test_logs_say_who_fired_and_who_heard(incident: Incident) -> None:
    logs = {
        p.name: p.read_text() for p in (incident("blocked-loader-3d") / "evidence" / "logs").glob("rank_*")
    }
    fired = [name for name, text in logs.items() if "Watchdog caught collective operation timeout" in text]
    assert "rank_6.log" not in fired
    assert len(fired) >= 3
    silent = logs["rank_6.log"]
    assert "Received a dump signal due to a collective timeout from  rank" in silent
    first = Counter("First PG on this rank to signal dumping" in text for text in logs.values())
    assert first[True] == 1


def test_exits_tell_the_victims_from_the_killed(incident: Incident) -> None:
    rows = json.loads((incident("killed-oom") / "evidence" / "exits.json").read_text())
    assert rows[9]["signal"] == "SIGKILL"
    assert {row["signal"] for row in rows if row["rank"] != 9} <= {"SIGABRT", "SIGTERM"}
    kernel = (incident("killed-oom") / "evidence" / "kernel" / "node01.log").read_text()
    assert f"Killed process {rows[9]['pid']} (python3)" in kernel


def test_ras_counts_launches(incident: Incident) -> None:
    behind = (incident("blocked-loader-3d") / "evidence" / "ras" / "ncclras.txt").read_text()
    assert "different AllReduce operation counts" in behind
    assert "managed by process 20006" in behind
    joined = (incident("network-stalled") / "evidence" / "ras" / "ncclras.txt").read_text()
    assert "MISMATCH" not in joined, "all have launched: RAS says OK while it hangs"
    document = json.loads((incident("peer-unreachable") / "evidence" / "ras" / "ncclras.json").read_text())
    assert document["communicators"][0]["missing_ranks_count"] == 8


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = (simulate("swallowed-moe", tmp_path / name) for name in ("a", "b"))
    files = sorted(p.relative_to(first) for p in first.rglob("*") if p.is_file())
    assert len(files) > 20
    assert all((first / f).read_bytes() == (second / f).read_bytes() for f in files)


def test_ranks_grow_along_the_data_parallel_dimension(tmp_path: Path) -> None:
    incident = simulate("blocked-loader-3d", tmp_path / "grown", ranks=32)
    truth = read(incident)
    assert (truth.world_size, truth.culprits) == (32, [6])
    assert len(dumps_of(incident)) == 32
    with pytest.raises(ValueError, match="multiples of 8"):
        simulate("blocked-loader-3d", tmp_path / "odd", ranks=12)


def test_a_scenario_that_does_not_hang_fails_loudly() -> None:
    scenario = SCENARIOS["skip-nonfinite-ddp"]
    with pytest.raises(SimulationError, match="finished"):
        play(replace(scenario, faults=(replace(scenario.faults[0], bend=None),)))
    with pytest.raises(SimulationError, match="hung"):
        play(replace(scenario, hang=False))


def test_a_stalled_broadcast_leaves_its_root_done_and_the_rest_started(incident: Incident) -> None:
    states = {
        rank: next(e["state"] for e in reversed(dump["entries"]) if e["profiling_name"] == "nccl:broadcast")
        for rank, dump in dumps_of(incident("peers-broadcast-root-early")).items()
    }
    assert states == {0: "completed", 1: "started", 2: "started", 3: "started"}
