"""Whatever the bytes: nothing raises, and what comes back can be stored."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.evidence.stack_reading import read, read_log
from support.examples import examples

from rankandfile.evidence.raw import pack
from rankandfile.evidence.tables.repeated import Repeated
from rankandfile.evidence.text.prefixes import peel
from rankandfile.evidence.text.stacks.assemble import snapshot_tables
from rankandfile.evidence.text.stacks.ownership import StackPart, give_ranks
from rankandfile.evidence.text.stacks.raw import RawStacks

pytestmark = pytest.mark.slow

PIECES = [
    "Fatal Python error: Aborted", "Current thread 0x01 (most recent call first):", "Stack (most recent call first):",
    "Thread 0xffffffffffffffff (most recent call first):", '  File "a.py", line 3 in f', "  <no Python frame>", "  ...",
    "Process 1: x", "Parent Process 2: y", 'Thread 1 (idle): "MainThread"', "Thread 0x1 (active+gil)", "    f (a.py:1)",
    "        Locals:", "            x: 1", "Traceback (most recent call last):", '  File "a.py", line 9999999999, in f',
    '  File "a.py", line 3, in f', "    code()", "ValueError: x", "During handling of the above exception, another",
    "Original Traceback (most recent call last):", "Stack trace of the failed collective: ", "#0 f from a.py:1",
    "#1 g from b.py:2", 'Thread 1 (Thread 0x1 (LWP 7) "x"):', "#0  0x1 in f () from /lib/c.so", "(process 7)",
    "=== Rank 3: http://a:1/h? ===", "=== Rank 9999999: x ===", "Error: 500", "PARTIAL DATA: 1/2 workers responded",
    "  Rank 1: no", "[rank3]: ", "[rank1]:[E511 17:02:13.640171617 a.cpp:1] ", " 3: ", "\x1b[31m", "\r", "\0", "",
    "Exception raised from f at a.cpp:3 (most recent call first)", "frame #0: f + 0x1 (0x1 in a.so)", "\ud800\u202e",
    "TID 3:", "PID 3 - process",
]  # fmt: skip
TEXTS = st.lists(
    st.lists(st.sampled_from(PIECES) | st.text(max_size=20), max_size=3).map("".join), max_size=40
).map("\n".join)
KEYS = ["pid", "frames", "thread_id", "name", "filename", "line", "locals", "process_info", "parent"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=5,
        )
    ),
    max_leaves=30,
)


def assembled(*raw: RawStacks) -> None:
    parts = [StackPart(one, f"file_{number}.txt") for number, one in enumerate(raw)]
    pack(list(raw))
    give_ranks(parts)
    snapshots, _ = snapshot_tables(parts, Repeated())
    assert snapshots.height == sum(len(one.threads) for one in raw)


@given(TEXTS)
@settings(max_examples=examples(300), deadline=None)
def test_any_lines(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    with tempfile.TemporaryDirectory() as folder:
        assembled(read(Path(folder), data), read_log(Path(folder), data))


@given(st.binary(max_size=300))
@settings(deadline=None)
def test_any_bytes(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assembled(read(Path(folder), data), read_log(Path(folder), data), read(Path(folder), data, "x.json"))


@given(st.lists(JSON, max_size=4))
@settings(max_examples=examples(200), deadline=None)
def test_any_json(value: list[Any]) -> None:
    data = json.dumps(value).encode()
    with tempfile.TemporaryDirectory() as folder:
        assembled(read(Path(folder), data, "x.json"), read(Path(folder), data[:-1], "x.json"))


@given(st.text(max_size=200))
@settings(deadline=None)
def test_peeling_keeps_the_end(line: str) -> None:
    assert line.endswith(peel(line).indented) or line.startswith('{"log":"')


@pytest.mark.parametrize(
    "data",
    [
        b"Thread 0x1 (most recent call first):\n" + b'  File "a.py", line 3 in f\n' * 40_000,
        pytest.param(
            b"Thread 0x1 (most recent call first):\n" + b'  File "a.py", line 3 in f\n' * 200_000,
            marks=pytest.mark.lab,
        ),
        pytest.param(
            b"Traceback (most recent call last):\n" + b'  File "a.py", line 3, in f\n' * 200_000,
            marks=pytest.mark.lab,
        ),
        pytest.param(
            b"Thread 1 (idle)\n" + b"".join(b"    f%d (a.py:%d)\n" % (n, n) for n in range(200_000)),
            marks=pytest.mark.lab,
        ),
        pytest.param(
            b"".join(b"[default%d]:Thread 0x1 (most recent call first):\n" % n for n in range(60_000)),
            marks=pytest.mark.lab,
        ),
        b"x" * 3_000_000 + b"\nProcess 1: x\n",
        b"[" * 100_000,
        b'[{"frames": ' * 50_000,
        b"#0  0x1 in " + b"(" * 100_000 + b"\n",
    ],
    ids=[
        "deep",
        "deeper",
        "deep traceback",
        "distinct",
        "writers",
        "long line",
        "nested",
        "nested json",
        "parentheses",
    ],
)
def test_bombs_end_quickly(tmp_path: Path, data: bytes) -> None:
    assembled(read(tmp_path, data), read(tmp_path, data, "x.json"), read_log(tmp_path, data))
