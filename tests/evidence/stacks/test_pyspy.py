"""py-spy's text and JSON: of a real process, and of shapes that none here produces."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.evidence.stack_reading import read, seen

PROGRAM = """
import multiprocessing, sys, threading, time
def child():
    time.sleep(600)
def wait_here(limit, text="a (b)"):
    print("ready", flush=True)
    time.sleep(limit)
if __name__ == "__main__":
    multiprocessing.get_context("fork").Process(target=child, daemon=True).start()
    threading.Thread(target=time.sleep, args=(600,), daemon=True, name="poll (x)").start()
    time.sleep(1)
    wait_here(600)
"""
OPTIONS = [(), ("--native",), ("--locals",)]
OPTIONS += [("--json", *options) for options in OPTIONS]
PYSPY = shutil.which("py-spy") or str(Path(sys.executable).with_name("py-spy"))


def spy(pid: int, *options: str) -> bytes:
    run = subprocess.run(
        [PYSPY, "dump", "-p", str(pid), *options], capture_output=True, timeout=300, check=False
    )
    if run.returncode:
        pytest.skip(f"py-spy cannot look into a process here: {run.stderr[:100]!r}")
    return run.stdout


@pytest.fixture(scope="module")
def pid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    if not Path(PYSPY).exists():
        pytest.skip("py-spy is not installed")
    program = tmp_path_factory.mktemp("program") / "program.py"
    program.write_text(PROGRAM)
    with subprocess.Popen(
        [sys.executable, str(program)], stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        try:
            yield process.pid
        finally:
            # It has a child.
            os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.parametrize("options", OPTIONS)
def test_real(tmp_path: Path, pid: int, options: tuple[str, ...]) -> None:
    for _ in range(10):
        found = seen(read(tmp_path, spy(pid, *options)))
        (main,) = [one for one in found if one.thread.role == "main"]
        (other,) = [one for one in found if one.thread.role != "main"]
        if not main.thread.active:  # on a busy machine it may just be on its way to sleep
            break
    assert main.process.pid == main.thread.os_thread == pid
    assert (main.thread.name, other.thread.name) == ("MainThread", "poll (x)")
    assert (main.thread.active, main.thread.owns_gil, main.thread.native) == (
        False,
        False,
        "--native" in options,
    )
    python = [frame for frame in main.frames if frame[1].endswith("program.py")]
    assert [(function, line) for function, _, line in python] == [("wait_here", 7), ("<module>", 12)]
    assert ("wait_here: limit: 600" in main.thread.locals) == ("--locals" in options)
    if "--native" in options:
        assert any("nanosleep" in function for function in main.functions)


def test_real_children(tmp_path: Path, pid: int) -> None:
    found = seen(read(tmp_path, spy(pid, "--subprocesses")))
    children = [one for one in found if one.process.parent == pid]
    assert children
    assert any("child" in one.functions for one in children)


def test_lines_of_pretty_json_point_at_the_thread(tmp_path: Path, pid: int) -> None:
    data = spy(pid, "--json")
    for one in seen(read(tmp_path, data)):
        assert f'"pid": {pid}' in data.decode().split("\n")[one.thread.line - 1]
    minified = json.dumps(json.loads(data)).encode()
    assert [one.thread.line for one in seen(read(tmp_path, minified))] == [1, 2]


def test_several_lists_are_several_snapshots_and_damage_costs_only_itself(tmp_path: Path, pid: int) -> None:
    data = spy(pid, "--json")
    found = seen(read(tmp_path, data + data))
    assert sorted({one.thread.process for one in found}) == [0, 1]
    raw = read(tmp_path, data + data[: len(data) // 2])
    assert len(raw.threads) >= 2
    assert any("ends early" in note.what for note in raw.notes)


def test_odd_frames(tmp_path: Path) -> None:
    text = """Process 7: python (x) train.py
Python v3.12.1 (/usr/bin/python3.12)

Thread 0x7F45E4F7 (active+gil)
    c10d::Reducer::finalize_backward(std::vector<int> (*)(int)) (torch/lib/libtorch_cpu.so)
    <lambda> (<string>:1)
    odd (my (copy)/train.py:3)
    operator() (Functions.cpp:12)
"""
    (one,) = seen(read(tmp_path, text))
    assert one.frames == [
        ("c10d::Reducer::finalize_backward(std::vector<int> (*)(int))", "torch/lib/libtorch_cpu.so", 0),
        ("<lambda>", "<string>", 1),
        ("odd", "my (copy)/train.py", 3),
        ("operator()", "Functions.cpp", 12),
    ]
    assert (one.thread.thread_id, one.thread.owns_gil, one.thread.active) == (0x7F45E4F7, True, True)
    assert one.process.pid == 7


def test_what_torch_was_asked_for_is_kept_and_nothing_else(tmp_path: Path) -> None:
    c10d = "/env/torch/distributed/distributed_c10d.py"
    shown = {
        "src": "1",
        "group": "<ProcessGroup at 0x7f>",
        "tag": "0",
        "group_src": "None",
        "input_split_sizes": "[5, 9]",
    }
    mine = {"src": "7", "dst": "'hunter2'", "ranks": "[3, ...]"}
    frames = [
        {"name": name, "filename": file, "line": 1, "locals": [{"name": k, "repr": v} for k, v in given.items()]}
        for name, file, given in (("recv", c10d, shown), ("new_group", c10d, {"ranks": mine["ranks"]}),
                                  ("exchange", "/home/me/distributed_c10d.py", mine))
    ]  # fmt: skip
    (one,) = seen(
        read(tmp_path, json.dumps([{"pid": 7, "thread_name": "MainThread", "frames": frames}]).encode())
    )
    assert one.thread.asked == "recv: src=1\nrecv: tag=0\nrecv: input_split_sizes=[5,9]"
    text = """Process 7: python train.py

Thread 7 (idle): "MainThread"
    broadcast (torch/distributed/distributed_c10d.py:3151)
        Arguments:
            tensor: <Tensor at 0x7f>
            src: 2
    adopt (inventory.py:29)
        Arguments:
            src: 3
"""
    (one,) = seen(read(tmp_path, text.encode()))
    assert one.thread.asked == "broadcast: src=2"


def test_variables_are_bounded(tmp_path: Path) -> None:
    lines = "".join(f"            v{n}: {'x' * 500}\n" for n in range(500))
    head = 'Process 7: python\n\nThread 7 (idle): "MainThread"\n    f (a.py:1)\n        Locals:\n'
    text = f"{head}{lines}    <module> (a.py:2)\n"
    (one,) = seen(read(tmp_path, text))
    assert one.functions == ["f", "<module>"]
    assert 0 < len(one.thread.locals) <= 4096
