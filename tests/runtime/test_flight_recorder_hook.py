"""`FlightRecorderHook` with TorchComms' interface: on a stand-in of its communicator, and on real groups."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.later import Later
from support.runtime.gloo_ranks import Ranks
from support.runtime.torchcomms_stand_in import TorchComm

from rankandfile.runtime import flight_recorder
from rankandfile.runtime.flight_recorder import FlightRecorderHook

programs = Later("support.runtime.hook_programs")

pytestmark = pytest.mark.torch


def ones(count: int) -> SimpleNamespace:
    """What the hook looks at in a tensor."""
    return SimpleNamespace(shape=(count,), dtype="torch.float32")


def fr_trace(folder: Path) -> str:
    command = [sys.executable, "-m", "torch.distributed.flight_recorder.fr_trace", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_a_communicators_calls_are_recorded_as_torch_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCHCOMM_FR_DUMP_TEMP_FILE", str(tmp_path / "comm_rank_"))
    for rank in range(2):
        comm = TorchComm("world", rank, 2, hangs=("barrier",))
        hook = FlightRecorderHook(max_entries=100)
        hook.register_with_comm(comm)
        comm.all_reduce(ones(3), op="SUM", async_op=False)
        comm.all_gather([ones(2), ones(2)], ones(2), async_op=True).wait()
        comm.send(ones(5), dst=1 - rank, async_op=False)
        if rank == 0:
            comm.barrier(async_op=True)
        found = json.loads(hook.dump_json())
        names = [entry["profiling_name"] for entry in found["entries"]]
        assert names[:3] == ["ncclx:all_reduce", "ncclx:all_gather", f"ncclx:send {rank}->{1 - rank}"]
        assert [entry["collective_seq_id"] for entry in found["entries"]][:3] == [1, 2, 2]
        assert found["entries"][1]["output_sizes"] == [[2], [2]]
        assert found["entries"][0]["state"] == "completed"
        assert found["entries"][0]["frames"][0]["filename"].endswith("torchcomms_stand_in.py")
        assert len(json.loads(hook.dump_json(include_completed=False))["entries"]) == 1 - rank
        assert hook.size() == len(hook) == 4 - rank
        assert hook.dump_file(rank) == str(tmp_path / f"comm_rank_{rank}")
    assert "missing ranks: {1}" in fr_trace(tmp_path)


def test_a_hook_keeps_the_newest_and_lets_go(tmp_path: Path) -> None:
    comm = TorchComm("world", 0, 1)
    hook = FlightRecorderHook(max_entries=5)
    assert not hook.is_enabled()
    hook.register_with_comm(comm)
    assert hook.is_enabled()
    for _ in range(12):
        comm.all_reduce(ones(1), op="SUM", async_op=False)
    comm.finalize()
    kept = json.loads(hook.dump_json())["entries"]
    assert [entry["collective_seq_id"] for entry in kept] == [8, 9, 10, 11, 12]
    hook.unregister()
    comm.all_reduce(ones(1), op="SUM", async_op=False)
    assert hook.size() == 5
    assert not hook.is_enabled()
    hook.reset()
    assert hook.size() == 0
    with pytest.raises(TypeError):
        hook.register_with_comm(object())


def test_a_hook_that_fails_does_not_disturb_the_communicator() -> None:
    comm = TorchComm("world", 0, 1)
    hook = FlightRecorderHook()
    hook.register_with_comm(comm)
    comm.all_reduce(object(), op="SUM", async_op=False)  # no tensor
    assert hook.size() == 0


def test_switched_off_it_hears_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flight_recorder, "recorder_on", lambda: False)
    comm, hook = TorchComm("world", 0, 1), FlightRecorderHook()
    hook.register_with_comm(comm)
    comm.all_reduce(ones(1), op="SUM", async_op=False)
    assert (hook.size(), hook.is_enabled()) == (0, False)


def test_a_group_of_torch_distributed(ranks: Ranks, tmp_path: Path) -> None:
    """Of two groups, only what the hook was registered with; two ranks that wait for a third call of one of them."""
    found = ranks.run(
        2,
        programs.hooked,
        RAF_RING_DIR=str(tmp_path / "rings"),
        TORCHCOMM_FR_DUMP_TEMP_FILE=str(tmp_path / "pg_rank_"),
    )
    for number, rank in enumerate(found):
        assert rank.returned is not None, rank.out
        names = [entry["profiling_name"] for entry in rank.returned["entries"]]
        assert names == ["gloo:all_reduce"] * 2 + ["gloo:broadcast"] * (number == 0)
        assert rank.returned["let_go"] == [2, False]
        assert rank.returned["after_reset"] == 0
        document = pickle.loads((tmp_path / f"pg_rank_{number}").read_bytes())
        assert len(document["entries"]) == len(names)
    (tmp_path / "dumps").mkdir()
    for number in range(2):
        (tmp_path / f"pg_rank_{number}").rename(tmp_path / "dumps" / f"pg_rank_{number}")
    assert "missing ranks: {1}" in fr_trace(tmp_path / "dumps")
