"""The writers against torch: what it dumped, read and written again, is the same bytes."""

from __future__ import annotations

import json
import pickle
import pickletools
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.lab.flight_reload import reload_json, reload_pickle
from support.places import TESTS

from rankandfile.lab.flight_writer import write_pickle
from rankandfile.lab.flight_writer_json import write_json
from rankandfile.lab.flight_writer_types import VERSIONS, Dump, Entry, Frame, GroupConfig, GroupStatus, Kind

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch")
    folder: Path = tmp_path_factory.mktemp("dumps")
    script = TESTS / "support" / "lab" / "gloo_dumps.py"
    ranks = [subprocess.Popen([sys.executable, str(script), str(rank), str(folder)]) for rank in range(2)]
    try:
        assert [rank.wait(timeout=300) for rank in ranks] == [0, 0]
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()
    return folder


@pytest.mark.torch
@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize(
    ("kind", "options"),
    [("full", {}), ("noframes", {"include_stacks": False}), ("nothing", {"include_collectives": False})],
)
def test_pickles_are_torchs_to_the_byte(real: Path, kind: str, rank: int, options: dict[str, bool]) -> None:
    data = (real / f"{kind}_{rank}").read_bytes()
    assert len(data) > 200
    assert write_pickle(reload_pickle(data), **options) == data


@pytest.mark.torch
@pytest.mark.parametrize("rank", [0, 1])
def test_json_is_torchs_to_the_byte(real: Path, rank: int) -> None:
    full, empty = (real / f"json_{rank}").read_bytes(), (real / f"emptyjson_{rank}").read_bytes()
    assert write_json(reload_json(full)) == full
    assert write_json(reload_json(empty), include_collectives=False) == empty


STACK = (Frame("all_reduce", "c10d.py", 3245), Frame("step", "train.py", 12))
KIND = Kind(
    0,
    "0",
    "default_pg",
    "nccl:all_reduce",
    ((2, 3), ()),
    ("Float", "Long"),
    ((6,),),
    ("Float",),
    frames=STACK,
)
DUMP = Dump(
    kinds=[KIND, KIND._replace(op="nccl:send 0->1", is_p2p=True, frames=STACK[1:])],
    entries=[
        Entry(0, 70_000, 1, 0, 1, 1_760_000_000_000_000_000, 5, 1_760_000_000_100_000_000, True, 1.5),
        Entry(0, 70_001, 2, 0, 2, 1_760_000_000_200_000_000, 1_760_000_000_300_000_000),
        Entry(1, 70_002, 2, 1, 3, 1_760_000_000_400_000_000),
    ],
    pg_config={"0": GroupConfig("0", "default_pg", (0, 1))},
    pg_status={"0": GroupStatus(2, 2, 1)},
    comm_lib_version="2.27.5",
)


def _only_builtins(data: bytes) -> Any:
    dangerous = {"GLOBAL", "STACK_GLOBAL", "REDUCE", "BUILD", "INST", "OBJ", "NEWOBJ", "PERSID", "BINPERSID"}
    assert dangerous.isdisjoint(opcode.name for opcode, _, _ in pickletools.genops(data))
    return pickle.loads(data)


def test_states_follow_from_the_times() -> None:
    entries = _only_builtins(write_pickle(DUMP))["entries"]
    assert [entry["state"] for entry in entries] == ["completed", "started", "scheduled"]
    assert [entry.get("duration_ms") for entry in entries] == [1.5, None, None]
    assert [entry["record_id"] for entry in entries] == [70_000, 70_001, 70_002]
    assert entries[0]["input_sizes"] == [[2, 3], []]
    assert entries[2]["process_group"] == ("0", "default_pg")


def test_shared_frames_are_one_object_and_others_are_not() -> None:
    entries = _only_builtins(write_pickle(DUMP))["entries"]
    assert entries[0]["frames"][0] is entries[1]["frames"][0]
    assert entries[0]["frames"][1] is entries[2]["frames"][0]
    assert entries[0]["process_group"] is not entries[1]["process_group"]


@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_has_its_fields(version: str) -> None:
    document = _only_builtins(write_pickle(DUMP, version))
    entry = document["entries"][2]
    assert document["version"] == version
    assert ("seq_id" in entry) == (version == "1.4")
    assert ("process_group" in entry) == (version != "1.4")
    assert ("timeout_ms" in entry) == ("pg_status" in document) == (version in ("2.4", "2.9", "2.10"))
    assert ("thread_id" in entry) == (version in ("2.9", "2.10"))
    assert ("nccl_version" in document) == (version == "2.9")
    assert ("comm_lib_version" in document) == (version == "2.10")
    assert document["pg_config"] == (
        {0: [0, 1]} if version == "1.4" else {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}}
    )
    assert [frame["line"] for frame in entry["frames"]] == [12]
    if version == "1.4":
        assert next(reversed(entry)) == "frames"
        assert next(iter(document)) == "entries"


def test_json_has_strings_zeros_and_no_stacks() -> None:
    document = json.loads(write_json(DUMP))
    assert document["pg_status"]["0"]["last_enqueued_collective"] == "2"
    assert document["entries"][2]["time_discovered_started_ns"] == 0
    assert document["entries"][2]["process_group"] == ["0", "default_pg"]
    assert "frames" not in document["entries"][0]
    assert "entries" not in json.loads(write_json(DUMP, include_collectives=False))
    with pytest.raises(ValueError, match=r"2\.1"):
        write_json(DUMP, "2.1")


def test_only_active_drops_what_has_completed() -> None:
    document = _only_builtins(write_pickle(DUMP, only_active=True))
    assert [entry["record_id"] for entry in document["entries"]] == [70_001, 70_002]
