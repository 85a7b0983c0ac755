"""What a fuzzer does to the readers of logs, stacks, lists of exits and rings: the first byte chooses the door."""

from __future__ import annotations

import tempfile
from pathlib import Path

from rankandfile.evidence.exits import table as exits
from rankandfile.evidence.exits.documents import from_document
from rankandfile.evidence.raw import pack
from rankandfile.evidence.tables.repeated import Repeated
from rankandfile.evidence.text.logs.assemble import LogPart, tables
from rankandfile.evidence.text.logs.ras import as_json
from rankandfile.evidence.text.logs.raw import pack as pack_log
from rankandfile.evidence.text.logs.raw import unpack
from rankandfile.evidence.text.reading import read_log, read_stacks
from rankandfile.evidence.text.stacks.assemble import snapshot_tables
from rankandfile.evidence.text.stacks.ownership import StackPart, give_ranks

_FILE = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)) / "input"


def fuzz_log(data: bytes) -> None:
    door, content = data[:1], data[1:]
    if door == b"r":
        as_json.read(content)
    elif door == b"x":
        rows, _ = from_document(content, "attempt_0/1/error.json")
        exits.table(rows)
    else:
        _FILE.write_bytes(content)
        log = unpack(pack_log(read_log(_FILE).log))
        if door == b"t":
            found = tables([LogPart(log, "job.log", 1_770_000_000_000_000_000, rank=1)])
            exits.tie(exits.table(exits.from_events(found.events, found.logs)), found.events)


def log_seeds() -> list[bytes]:
    from support.evidence.log_examples import EXAMPLES, MACHINE

    return [
        f"{'t' if number % 4 == 0 else 'l'}[rank3]:[E207 08:41:09.5 X.cpp:6] {example.text}\n".encode()
        for number, example in enumerate([*EXAMPLES, *MACHINE])
    ] + [b"t[rank3]: connected rankinfo[LINE 0]: [03],[0088888888888888888888812];\n"]


def fuzz_stacks(data: bytes) -> None:
    door, content = data[:1], data[1:]
    _FILE.write_bytes(content)
    if door < b"\x55":
        raw = read_stacks(_FILE, "stacks.txt").stacks
    elif door < b"\xaa":
        raw = read_stacks(_FILE, "stacks.json").stacks
    else:
        raw = read_log(_FILE).stacks
    if raw is None:
        return
    pack(raw)
    parts = [StackPart(raw, "stacks.txt")]
    give_ranks(parts)
    snapshot_tables(parts, Repeated())


_FAULTHANDLER = b"""Thread 0x00007f1c4e7fc640 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 324 in wait
  File "/job/train.py", line 41 in step

Current thread 0x00007f1c5c1b8740 (most recent call first):
  File "/job/train.py", line 31 in main
  File "/job/train.py", line 90 in <module>
"""
_PYSPY = b"""Process 4711: python train.py
Python v3.11.7 (/usr/bin/python3.11)

Thread 4711 (idle): "MainThread"
    all_reduce (torch/distributed/distributed_c10d.py:2810)
    step (train.py:31)
        Arguments:
            batch: <Batch at 0x7f1c4e7fc640>
    <module> (train.py:90)
"""
_PYSPY_JSON = b"""[{"pid": 4711, "thread_id": 139759283, "thread_name": "MainThread", "os_thread_id": 4711, "active":
false, "owns_gil": false, "frames": [{"name": "step", "filename": "/job/train.py", "module": null, "short_filename":
"train.py", "line": 31, "locals": [{"name": "n", "addr": 1, "arg": true, "repr": "3"}]}], "process_info": null}]"""
_TRACEBACK = b"""[rank1]: Traceback (most recent call last):
[rank1]:   File "/job/train.py", line 90, in <module>
[rank1]:     main()
[rank1]: ValueError: bad batch
"""
_NATIVE = b"""Thread 1 (Thread 0x7f1c5c1b8740 (LWP 4711) "python"):
#0  0x00007f1c5c3d4f5e in poll () from /lib/x86_64-linux-gnu/libc.so.6
#1  0x00007f1c12345678 in gloo::transport::tcp::Loop::run() () from /lib/libtorch_cpu.so
"""


def stack_seeds() -> list[bytes]:
    texts = (_FAULTHANDLER, _PYSPY, _PYSPY_JSON, _TRACEBACK, _NATIVE)
    return [door + text for text in texts for door in (b"\0", b"\x60", b"\xff")]
