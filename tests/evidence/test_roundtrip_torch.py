"""Dumps of real torch jobs: every field that torch recorded, of every call of every rank, is in the case.

The jobs are those of `torch_jobs.py`; the yardstick is a plain ``pickle.load`` and ``json.load`` of their files.
"""

from __future__ import annotations

import importlib.util
import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.evidence.sample_dumps import as_recorded, recorded
from support.places import TESTS
from support.selected import asked_for, in_lab

from rankandfile.evidence.load import load
from rankandfile.model.case import Case

pytestmark = [
    pytest.mark.slow,
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks ranks"),
]

PROGRAM = TESTS / "support" / "evidence" / "torch_jobs.py"
TIMEOUT = 600

HEALTHY = [
    "ok_everything",
    "ok_objects",
    "ok_groups",
    "ok_mesh",
    "ok_functional",
    "ok_coalesced",
    "ok_monitored_barrier",
    "ok_ddp",
    "ok_fsdp2",
]
HUNG = [
    "fsdp2_hang",
    "hung_rank",
    "early_return",
    "early_exit_process",
    "mismatched_op",
    "swapped_ops",
    "swapped_groups",
    "ddp_unused",
    "missing_sub_member",
    "p2p_deadlock",
    "batch_p2p_missing",
    "wraparound",
    "mismatched_shape",
    "mismatched_dtype",
    "a2a_split_mismatch",
    "two_threads",
]
SCENARIOS = HEALTHY + HUNG
#: One of each kind: all forms of calls, transfers in one that lack a rank, a ring that has lost some.
HERE = ("ok_everything", "batch_p2p_missing", "wraparound")


@pytest.fixture(scope="module")
def jobs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("jobs")
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM), str(folder), *asked_for(request, "scenario")],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=TIMEOUT)
    finally:
        # SIGTERM: it ends its ranks before itself.
        process.terminate()
        process.wait(120)
    assert process.returncode == 0, output
    yield folder


def loaded(folder: Path, tmp_path: Path) -> Case:
    spool = tmp_path / "spool"
    spool.mkdir(exist_ok=True)
    return load([folder], spool, jobs=1)


def raw_pickles(folder: Path) -> dict[int, dict[str, Any]]:
    """Only ever used on dumps the tests themselves have made."""
    files = folder.glob("nccl_trace_rank_*")
    return {int(path.name.rpartition("_")[2]): pickle.loads(path.read_bytes()) for path in files}


def raw_jsons(folder: Path) -> dict[int, dict[str, Any]]:
    files = (folder / "json").glob("*.json")
    return {int(path.stem.rpartition("_")[2]): json.loads(path.read_bytes()) for path in files}


def only_dumps(folder: Path, tmp_path: Path, form: str) -> Path:
    """The dumps of one form alone, as a person would have collected them."""
    target = tmp_path / form
    target.mkdir()
    for path in (folder / "json").iterdir() if form == "json" else folder.glob("nccl_trace_rank_*"):
        (target / path.name).write_bytes(path.read_bytes())
    return target


@pytest.mark.parametrize("form", ["pickle", "json"])
@pytest.mark.parametrize("scenario", in_lab(SCENARIOS, HERE))
def test_every_field_of_every_call(scenario: str, form: str, jobs: Path, tmp_path: Path) -> None:
    folder = jobs / scenario
    raw = raw_pickles(folder) if form == "pickle" else raw_jsons(folder)
    # gloo aborts ranks that receive more than they asked for, and an exited rank leaves nothing either.
    assert len(raw) >= (4 if scenario.startswith("ok_") else 1)
    case = loaded(only_dumps(folder, tmp_path, form), tmp_path)
    assert case.ranks_seen == sorted(raw)
    for dump, rank, kind, version, library in case.dumps.select(
        "dump", "rank", "format", "version", "library"
    ).rows():
        value = raw[rank]
        assert (kind, version, library) == (form, value["version"], value["comm_lib_version"])
        assert as_recorded(case, dump) == recorded(value.get("entries", []))
        assert statuses(case, dump) == raw_statuses(value)
    assert {group["desc"] for group in case.groups.iter_rows(named=True)} >= {
        entry["process_group"][1] for value in raw.values() for entry in value.get("entries", [])
    }


def statuses(case: Case, dump: int) -> dict[tuple[str, str], tuple[int | None, ...]]:
    rows = case.statuses.filter(case.statuses["dump"] == dump).join(case.groups, on="group")
    return {
        (row["name"], row["desc"]): (row["last_enqueued"], row["last_started"], row["last_completed"])
        for row in rows.iter_rows(named=True)
    }


def raw_statuses(value: dict[str, Any]) -> dict[tuple[str, str], tuple[int | None, ...]]:
    """The status block under the groups' names: the process's own numbers are in its calls."""
    names = {str(entry["pg_id"]): tuple(entry["process_group"]) for entry in value.get("entries", [])}
    keys = ("last_enqueued_collective", "last_started_collective", "last_completed_collective")
    return {
        names[number]: tuple(None if int(counters[key]) == -1 else int(counters[key]) for key in keys)
        for number, counters in value["pg_status"].items()
        if number in names
    }


@pytest.mark.parametrize("scenario", in_lab(SCENARIOS, HERE))
def test_nothing_in_a_real_dump_needs_a_note(scenario: str, jobs: Path, tmp_path: Path) -> None:
    case = loaded(only_dumps(jobs / scenario, tmp_path, "pickle"), tmp_path)
    # A wrapped ring may have lost a group's last call, and with it what the group's counters stand for.
    assert [note for note in case.notes if note.where != "pg_status"] == []


@pytest.mark.parametrize(
    "scenario", in_lab(["ok_everything", "ok_mesh", "ok_groups", "ok_fsdp2"], ("ok_everything", "ok_mesh"))
)
def test_collectives_of_healthy_jobs_have_all_their_members(
    scenario: str, jobs: Path, tmp_path: Path
) -> None:
    """Group identity holds across ranks: each group's members made the same calls on it, and nobody else did."""
    case = loaded(only_dumps(jobs / scenario, tmp_path, "pickle"), tmp_path)
    assert case.world_size == 4
    for group, members in case.groups.select("group", "members").rows():
        calls = case.calls.filter(case.calls["group"] == group)
        assert sorted(calls["rank"].unique().to_list()) == members
        per_seq = calls.group_by("seq").len()["len"].unique().to_list()
        assert per_seq == [len(members)]


@pytest.mark.parametrize("scenario", ["wraparound"])
def test_a_wrapped_ring_says_so(scenario: str, jobs: Path, tmp_path: Path) -> None:
    case = loaded(only_dumps(jobs / scenario, tmp_path, "pickle"), tmp_path)
    assert case.dumps["wrapped"].all()
    assert case.dumps["calls"].to_list() == [16] * case.dumps.height


@pytest.mark.parametrize("scenario", ["early_exit_process"])
def test_the_rank_that_exited_left_nothing_and_is_still_counted(
    scenario: str, jobs: Path, tmp_path: Path
) -> None:
    case = loaded(only_dumps(jobs / scenario, tmp_path, "pickle"), tmp_path)
    assert 3 not in case.ranks_seen
    assert case.world_size == 4


@pytest.mark.parametrize("scenario", ["ok_mesh"])
def test_both_forms_of_one_rank_are_not_merged(scenario: str, jobs: Path, tmp_path: Path) -> None:
    """A folder that holds pickle and JSON of each rank must not count every call twice."""
    case = loaded(jobs / scenario, tmp_path)
    calls = case.calls.group_by("rank").len()
    single = loaded(only_dumps(jobs / scenario, tmp_path, "pickle"), tmp_path).calls.group_by("rank").len()
    assert calls.sort("rank").equals(single.sort("rank"))
