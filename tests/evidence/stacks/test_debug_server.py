"""The debug server's files: sections by rank, and who did not answer."""

from __future__ import annotations

from pathlib import Path

from support.evidence.stack_reading import read, seen

STACKS = """PARTIAL DATA: 2/4 workers responded
  Rank 3: timed out
=== Rank 0: http://node07:54405/handler/dump_traceback? ===
Current thread 0x00007fecba7fc6c0 (most recent call first):
  <no Python frame>

Thread 0x00007fece3488b80 (most recent call first):
  File "/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 3252 in all_reduce
  File "/job/train.py", line 8 in <module>

=== Rank 1: http://[fe80::2]:51683/handler/dump_traceback? ===
Error: 500
=== Rank 2: http://node08:51684/handler/dump_traceback? ===

Thread 0x00007fb936623b80 (most recent call first):
  File "/job/train.py", line 7 in <module>
"""


def test_sections(tmp_path: Path) -> None:
    raw = read(tmp_path, STACKS, "stacks_20261120_173904.txt")
    assert raw.formats == ["debug_server", "faulthandler"]
    assert raw.unanswered == [1, 3]
    assert [note.what for note in raw.notes] == [
        "2 of 4 ranks answered the debug server",
        "rank 3 did not answer: timed out",
        "rank 1 answered with an error: 500",
    ]
    found = seen(raw)
    assert [(one.process.rank, one.process.host, one.thread.role) for one in found] == [
        (0, "node07", "server"),
        (0, "node07", "main"),
        (2, "node08", "main"),
    ]
    assert [one.process.rank_from for one in found] == ["content"] * 3


def test_pyspy_behind_it_with_children(tmp_path: Path) -> None:
    text = """=== Rank 0: http://vm:1/handler/pyspy_dump? ===
Process 10: python train.py
Python v3.11.7 (/usr/bin/python3.11)

Thread 10 (idle): "MainThread"
    all_reduce (torch/distributed/distributed_c10d.py:3252)
    <module> (train.py:8)

--------------------------------------------------------------------------------
Process 12: python train.py
Python v3.11.7 (/usr/bin/python3.11)
Parent Process 10: python train.py

Thread 12 (idle): "MainThread"
    __getitem__ (data.py:6)
    _worker_loop (torch/utils/data/_utils/worker.py:374)
    <module> (train.py:8)
=== Rank 1: http://vm:2/handler/pyspy_dump? ===
Process 11: python train.py
Python v3.11.7 (/usr/bin/python3.11)

Thread 11 (idle): "MainThread"
    <module> (train.py:7)
"""
    found = seen(read(tmp_path, text, "pyspy_dump_20261120_173904.txt"))
    assert [(one.process.rank, one.process.pid, one.process.parent, one.thread.role) for one in found] == [
        (0, 10, None, "main"),
        (0, 12, 10, "worker"),
        (1, 11, None, "main"),
    ]
