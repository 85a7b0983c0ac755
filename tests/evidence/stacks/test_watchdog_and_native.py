"""The watchdog's stack of a call, gdb's of everything, and C++ frames of exceptions."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.evidence.stack_reading import read, read_log, seen

ISSUED = """[rank3]:[E511 17:02:13.640171617 ProcessGroupNCCL.cpp:733] Stack trace of the failed collective: 
#0 broadcast from /venv/lib/python3.12/site-packages/torch/distributed/distributed_c10d.py:3145
#1 sync_flags from /job/train/loop.py:412
#2 <module> from /job/train/run.py:9

"""  # noqa: W291


def test_where_the_call_was_issued(tmp_path: Path) -> None:
    found = seen(
        read_log(tmp_path, "x\n" + ISSUED + ISSUED.replace("rank3", "rank5") + "Traceback is not here\n")
    )
    assert [(one.process.rank, one.thread.shows, one.thread.line) for one in found] == [
        (3, "issued", 2),
        (5, "issued", 7),
    ]
    assert found[0].frames[1:] == [
        ("sync_flags", "/job/train/loop.py", 412),
        ("<module>", "/job/train/run.py", 9),
    ]


def test_frames_of_two_ranks_are_not_mixed(tmp_path: Path) -> None:
    head, *frames = ISSUED.splitlines()
    text = "\n".join(
        [head, frames[0], head.replace("rank3", "rank5"), frames[0], frames[1], frames[1], frames[2]]
    )
    first, second = seen(read_log(tmp_path, text))
    assert (first.process.rank, len(first.frames)) == (3, 1)
    assert (second.process.rank, len(second.frames), second.thread.cut) == (5, 2, True)


def test_a_bare_traceback_after_it_belongs_to_nobody(tmp_path: Path) -> None:
    text = (
        ISSUED
        + 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\nValueError: x\n'
    )
    issued, raised = seen(read_log(tmp_path, text))
    assert (issued.process.rank, raised.process.rank) == (3, None)


GDB = """[New LWP 4243]
0x00007f966f51a26f in __GI___poll (fds=0x7f964df3e030, nfds=1) at ../sysdeps/unix/sysv/linux/poll.c:29

Thread 2 (Thread 0x7f5b11ffb700 (LWP 4243) "pt_nccl_watchdg"):
#0  0x00007f5b2c0a1c6b in epoll_wait () from /lib/x86_64-linux-gnu/libc.so.6
#1  0x00007f5b2c0a1c6c in std::function<void (int)>::operator()(int) const (this=0x0, a="(") at x.h:7

Thread 1 (Thread 0x7f5b11ffb701 (LWP 4242) "python"):
#0  __GI___poll (fds=0x7f00, nfds=1) at ../sysdeps/unix/sysv/linux/poll.c:29
#1  <signal handler called>
#2  0x000056221f23d081 in _start ()
[Inferior 1 (process 4242) detached]
"""


def test_gdb(tmp_path: Path) -> None:
    watchdog, main = seen(read(tmp_path, GDB))
    assert watchdog.frames == [
        ("epoll_wait", "/lib/x86_64-linux-gnu/libc.so.6", 0),
        ("std::function<void (int)>::operator()(int) const", "x.h", 7),
    ]
    assert (watchdog.thread.role, main.thread.role) == ("server", "main")
    assert main.functions == ["__GI___poll", "<signal handler called>", "_start"]
    assert (main.process.pid, main.thread.os_thread, main.thread.native) == (4242, 4242, True)


def test_pstack_and_eu_stack(tmp_path: Path) -> None:
    (old,) = seen(read(tmp_path, "Thread 1 (process 77):\n#0  0x7f in nanosleep () from /lib/libc.so.6\n"))
    assert old.frames == [("nanosleep", "/lib/libc.so.6", 0)]
    elf = "PID 88 - process\nTID 88:\n#0  0x00007f3b7b0a1c6b __nanosleep\n#1  0x0000 time_sleep - /usr/bin/python3.9\n"
    (one,) = seen(read(tmp_path, elf))
    assert one.functions == ["__nanosleep", "time_sleep"]
    assert (one.process.pid, one.thread.role) == (88, "main")


@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
def test_real_gdb(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import time; print(1, flush=True); time.sleep(60)"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        gdb = ["gdb", "-p", str(process.pid), "-batch", "-ex", "thread apply all bt"]
        run = subprocess.run(gdb, capture_output=True, timeout=300, check=False)
        process.kill()
    if b"#0" not in run.stdout:
        pytest.skip("gdb cannot attach here")
    (main,) = [one for one in seen(read(tmp_path, run.stdout)) if one.thread.role == "main"]
    assert main.process.pid == process.pid
    assert any("nanosleep" in function for function in main.functions[:3])


def test_cpp_frames_are_the_messengers(tmp_path: Path) -> None:
    text = """  what():  [PG ID 0] watchdog thread terminated with exception
Exception raised from checkTimeout at ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:632 (most recent call first):
frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x96 (0x7f5c in /venv/torch/lib/libc10.so)
frame #1: c10d::ProcessGroupNCCL::watchdogHandler() + 0x1e3 (0x7f5d in /venv/torch/lib/libtorch_cuda.so)
frame #2: <unknown function> + 0x8609 (0x7f5e in /lib/libc.so.6)
"""
    (one,) = seen(read_log(tmp_path, text))
    assert one.frames[1] == (
        "c10d::ProcessGroupNCCL::watchdogHandler()",
        "/venv/torch/lib/libtorch_cuda.so",
        0,
    )
    assert (one.thread.shows, one.thread.role, len(one.frames)) == ("raised", "server", 3)
