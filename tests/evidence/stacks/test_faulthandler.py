"""faulthandler's text: of every Python at hand, and of the versions that are not."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.evidence.stack_reading import read, read_log, seen

PROGRAM = """
import faulthandler, gc, os, signal, threading, time
def inner():
    faulthandler.dump_traceback(all_threads=True)
def deep(n):
    return deep(n - 1) if n else inner()
class Collected:
    def __del__(self): faulthandler.dump_traceback(all_threads=True)
release = threading.Event()
threading.Thread(target=release.wait, daemon=True).start()
inner()
deep(150)
it = Collected(); it.me = it; del it; gc.collect()
faulthandler.dump_traceback_later(0.1, exit=False); time.sleep(1.5)
faulthandler.enable()
os.kill(os.getpid(), signal.SIGABRT)
"""
PYTHONS = sorted({sys.executable, *filter(None, (shutil.which(f"python3.{n}") for n in range(10, 15)))})


@pytest.mark.parametrize("python", PYTHONS)
def test_real(tmp_path: Path, python: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    run = subprocess.run([python, str(program)], capture_output=True, timeout=300, check=False)
    if b"Fatal Python error" not in run.stderr:
        pytest.skip(f"{python} does not run here")
    found = seen(read(tmp_path, run.stderr))
    mains = [one for one in found if one.thread.role == "main"]
    assert [one.process.error for one in mains] == ["", "", "", "", "Fatal Python error: Aborted"]
    assert [one.thread.shows for one in mains] == ["now", "now", "now", "now", "died"]
    asked, deep, collected, timed, died = mains
    assert asked.functions == ["inner", "<module>"]
    assert deep.functions[:2] == ["inner", "deep"]
    assert deep.thread.cut
    assert "__del__" in collected.functions
    assert timed.functions == died.functions == ["<module>"]
    others = [one for one in found if one.thread.role != "main"]
    assert len(others) == 5
    assert all(one.functions[0] == "wait" for one in others)


def test_names_of_3_14_and_marks(tmp_path: Path) -> None:
    text = """Fatal Python error: Segmentation fault

Current thread 0x00007f9bd4df6b80 [python] (most recent call first):
  Garbage-collecting
  File "/job/train.py", line 5 in step
  File ???, line ??? in ???
  ... and 12 more frames

Thread 0x00007f9bd4df6b81 [pt_nccl_watchdg] (most recent call first):
  <no Python frame>

Current thread's C stack trace (most recent call first):
  Binary file "/usr/lib/libc.so.6", at abort+0x1f [0x7f9bd4]
  <truncated rest of calls>

Extension modules: numpy.core._multiarray_umath, torch._C (total: 2)
"""
    first, watchdog = seen(read(tmp_path, text))
    assert first.frames == [
        ("Garbage-collecting", "<gc>", 0),
        ("step", "/job/train.py", 5),
        ("???", "???", 0),
    ]
    assert (first.thread.name, first.thread.thread_id, first.thread.cut) == ("python", 0x7F9BD4DF6B80, True)
    assert first.thread.shows == "died"
    assert (watchdog.thread.role, watchdog.thread.stack) == ("server", None)


def test_snapshots_follow_each_other_without_a_mark(tmp_path: Path) -> None:
    head = "Thread 0x00000001 (most recent call first):\n"
    one = head + '  File "a.py", line {} in f\n  File "a.py", line 1 in <module>\n'
    found = seen(read(tmp_path, one.format(7) + one.format(8)))
    assert [item.thread.process for item in found] == [0, 1]
    assert [item.frames[0][2] for item in found] == [7, 8]
    assert [item.thread.line for item in found] == [1, 4]


def test_the_thread_that_dumps_is_not_the_program(tmp_path: Path) -> None:
    text = """Current thread 0x0002 (most recent call first):
  File "/job/spy.py", line 9 in look
  File "/usr/lib/python3.11/threading.py", line 982 in run
  File "/usr/lib/python3.11/threading.py", line 1002 in _bootstrap

Thread 0x0001 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 1590 in _shutdown
"""
    assert [one.thread.role for one in seen(read(tmp_path, text))] == ["server", "main"]


PREFIXES = ["", "[rank3]: ", "[default3]:", " 3: ", "node07: ", "[1,3]<stderr>:"]
PREFIXES += ["(RayTrainWorker pid=42, ip=10.1.2.3) ", "2026-02-07T08:41:09.512Z stderr F "]


@pytest.mark.parametrize("prefix", PREFIXES)
def test_behind_any_prefix_in_a_log(tmp_path: Path, prefix: str) -> None:
    body = [
        "Fatal Python error: Aborted",
        "",
        "Thread 0x00007f9bd4df6b80 (most recent call first):",
        '  File "/job/train.py", line 22 in <module>',
    ]
    text = "step 1\n" * 50 + "".join(f"{prefix}{line}\n" for line in body) + "step 2\n" * 50
    (one,) = seen(read_log(tmp_path, text))
    assert one.frames == [("<module>", "/job/train.py", 22)]
    assert one.process.error == "Fatal Python error: Aborted"
    assert (one.thread.line, one.thread.role) == (53, "main")
    assert one.process.rank == (3 if "rank3" in prefix or "[1,3]" in prefix else None)


def test_interleaved_ranks_are_told_apart(tmp_path: Path) -> None:
    ranks = {
        rank: [
            "Thread 0x00007f9bd4df6b80 (most recent call first):",
            f'  File "/job/train.py", line {rank} in step',
            '  File "/job/train.py", line 22 in <module>',
        ]
        for rank in range(3)
    }
    text = "".join(f"[rank{rank}]: {ranks[rank][line]}\n" for line in range(3) for rank in range(3))
    found = seen(read(tmp_path, text))
    assert [(one.process.rank, one.frames[0][2]) for one in found] == [(0, 0), (1, 1), (2, 2)]
    assert [one.process.rank_from for one in found] == ["prefix"] * 3


def test_a_line_broken_by_another_writer_is_not_trusted(tmp_path: Path) -> None:
    text = """Thread 0x01 (most recent call first):
  File "/job/a.py", line 3 in f
  File "/job/a.p[rank1]: hello File "x
"""
    (one,) = seen(read(tmp_path, text))
    assert one.frames == [("f", "/job/a.py", 3)]
    assert one.thread.cut
