"""What is asked of the kernel and of servers: how strangers' children ended, who was stopped, who does not answer."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.capture.waiting import until

from rankandfile.capture.diagnose import diagnose
from rankandfile.capture.gather import files, stacks, worker_server
from rankandfile.capture.meet.together import LOG_TAIL, pack
from rankandfile.capture.watch import kernel as kernel_module
from rankandfile.capture.watch import processes
from rankandfile.capture.watch.endings import Endings
from rankandfile.capture.watch.kernel import Kernel
from rankandfile.capture.watch.rings import rank_of, with_stops, without_ring
from rankandfile.evidence.exits.documents import from_document
from rankandfile.evidence.files import sniff


def test_how_a_process_ended_that_its_parent_has_not_asked_for() -> None:
    endings = Endings()
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    endings.watch(child.pid)
    assert endings.code(child.pid) is None
    os.kill(child.pid, signal.SIGKILL)
    until(lambda: endings.code(child.pid) is not None)
    assert endings.code(child.pid) == -signal.SIGKILL
    child.wait()


def test_a_stopped_process_is_called_one_and_left_alone(tmp_path: Path) -> None:
    if stacks.program() is None:
        pytest.skip("py-spy is not installed")
    child = subprocess.Popen(
        [sys.executable, "-c", "import time; print(flush=True); time.sleep(600)"], stdout=subprocess.PIPE
    )
    assert child.stdout is not None and child.stdout.read(1)
    child.send_signal(signal.SIGSTOP)
    until(lambda: processes.stopped(child.pid))
    found = processes.status(child.pid)
    assert found is not None
    ring = without_ring(child.pid, 3)
    try:
        assert stacks.take({"rank_3": child.pid}, tmp_path) == []
        assert stacks.take({"rank_3": child.pid}, tmp_path, native=True) == []
        assert [file.name for file in tmp_path.iterdir()] == ["pyspy_rank_3.json"]
        assert stacks.denied(child.pid).endswith(f"(kill -CONT {child.pid} lets it go on)")
        (first,) = with_stops([ring], [], 1000.0)
        (later,) = with_stops([ring], [first], 2000.0)
        assert (first.stopped, later.stopped) == (1000.0, 1000.0)
        files.exits([later], {}, tmp_path / "exits.json")
        data = (tmp_path / "exits.json").read_bytes()
        assert sniff.kind(data, "exits.json") == "exit_list"
        (told,) = from_document(data, "exits.json")[0]
        assert (told.rank, told.state, told.time_ns) == (3, "stopped", 1_000_000_000_000)
        child.send_signal(signal.SIGCONT)
        until(lambda: not processes.stopped(child.pid))
        assert with_stops([ring], [later], 3000.0)[0].stopped == 0
    finally:
        child.kill()
        child.wait()


def test_who_is_reached_no_more_is_listed_with_the_reason(tmp_path: Path) -> None:
    """Also a rank that was never seen; who is known to have ended is not lost."""
    seen = [without_ring(4000 + rank, rank) for rank in range(2)]
    why = dict.fromkeys((0, 1, 2), "its actor has not answered for 30 s")
    files.exits([one._replace(lives=False) for one in seen], {4000: -9}, tmp_path / "exits.json", why)
    data = (tmp_path / "exits.json").read_bytes()
    assert sniff.kind(data, "exits.json") == "exit_list"
    told = [(one.rank, one.state, one.error) for one in from_document(data, "exits.json")[0]]
    assert told == [(0, "signalled", None), (1, "lost", why[1]), (2, "lost", why[2])]


def test_a_diagnosis_that_breaks_down_is_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho Traceback >&2\necho 'KeyError: 3' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    answer = diagnose(tmp_path, None, True, 80)
    assert (answer.is_hang, answer.words) == (None, "the diagnosis broke off: KeyError: 3")


@pytest.mark.parametrize(("age", "told_in"), [(60, "evidence/dumps"), (1, "torch")])
def test_a_rank_that_cannot_record_is_known_by_torchs_recorder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, age: float, told_in: str
) -> None:
    """Unless it may be moving: nobody has watched whether it does."""
    dump = json.dumps({"entries": [{"time_created_ns": int((time.time() - age) * 1e9)}]}).encode()
    monkeypatch.setattr(worker_server, "flight", lambda _: ("json", dump))
    monkeypatch.setattr(worker_server, "handler", lambda *_: None)
    rings = tmp_path / "rings"
    rings.mkdir()
    env = {**os.environ, "RAF_RING_DIR": str(rings), "RANK": "3"}
    with subprocess.Popen(
        ["sh", "-c", "echo; read _"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as rank:
        assert rank.stdout is not None and rank.stdout.readline() == b"\n"
        (rings / f"rank-{rank.pid}.sock").touch()
        files.answers([without_ring(rank.pid, 3)], tmp_path)
        rank.kill()
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.json")] == [
        f"{told_in}/fr_trace_rank_3.json"
    ]


def test_nobody_answers(tmp_path: Path) -> None:
    assert worker_server.handlers(tmp_path / "none.sock") == [] and worker_server.flight("ftp://x") is None
    with socket.create_server(("127.0.0.1", 0)) as mute:
        began = time.monotonic()
        assert worker_server.fetch(f"127.0.0.1:{mute.getsockname()[1]}", "GET", "/", 0.3) is None
        assert time.monotonic() - began < 10


def test_a_healthy_machine_leaves_no_kernel_folder(tmp_path: Path) -> None:
    kernel = Kernel()
    kernel.note([os.getpid()])
    kernel.collect(tmp_path / "kernel")
    assert not (tmp_path / "kernel" / "memory.events").exists()


def test_what_was_killed_for_want_of_memory_since_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A control group has counted before the job began."""
    counter = tmp_path / "memory.oom_control"
    counter.write_text("under_oom 0\noom_kill 3\n")
    monkeypatch.setattr(kernel_module, "_counters", lambda _: counter)
    kernel = Kernel()
    kernel.note([1, 2])
    counter.write_text("under_oom 0\noom_kill 5\n")
    kernel.collect(tmp_path / "kernel")
    assert (tmp_path / "kernel" / "memory.events").read_text() == "oom_kill 2\n"


def test_a_long_log_is_handed_in_by_its_end(tmp_path: Path) -> None:
    import io
    import tarfile

    (tmp_path / "out.log").write_bytes(b"begin" + bytes(LOG_TAIL) + b"end")
    with tarfile.open(fileobj=io.BytesIO(pack(tmp_path))) as archive:
        file = archive.extractfile("out.log")
        assert file is not None
        data = file.read()
    assert len(data) == LOG_TAIL and data.endswith(b"end")


def test_the_rank_that_a_launcher_gave() -> None:
    assert rank_of({"OMPI_COMM_WORLD_RANK": "3"}) == 3 and rank_of({"SLURM_PROCID": "0"}) == 0
    assert rank_of({"RANK": "x"}) is None and rank_of({"RANK": "9" * 40}) is None and rank_of({}) is None
