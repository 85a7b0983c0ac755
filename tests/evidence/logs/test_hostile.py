"""Any bytes become events or notes: no exception, no endless search, nothing unbounded."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.evidence.log_examples import EXAMPLES, MACHINE
from support.evidence.reading_logs import log_of, rows_of
from support.examples import examples

from rankandfile.evidence.exits import table as exits
from rankandfile.evidence.text.logs.assemble import LogPart, tables
from rankandfile.evidence.text.logs.event import TEXT
from rankandfile.evidence.text.logs.raw import COLUMNS
from rankandfile.evidence.text.logs.shapes import SHAPES
from rankandfile.evidence.text.prefixes import peel
from rankandfile.evidence.text.scan import LINE
from rankandfile.evidence.text.written_lines import pieces

pytestmark = pytest.mark.slow

TEXTS = [example.text for example in [*EXAMPLES, *MACHINE]]
PREFIXES = [
    "[rank3]:",
    "[E207 08:41:09.5 X.cpp:6] ",
    "[default1]:",
    " 3: ",
    "(A pid=1, ip=2) ",
    "n7:1:2 [3] NCCL WARN ",
    "\x1b[31m",
]
DAMAGE = [
    "\0",
    "\r",
    "\x1b[",
    "\ufffd",
    "[rank",
    "99999999999999999999999",
    "(most recent call first)",
    "\u202e",
    "]" * 50,
]

FRAGMENTS = st.one_of(
    st.sampled_from(TEXTS),
    st.builds(lambda text, a, b: text[a:b], st.sampled_from(TEXTS), st.integers(0, 80), st.integers(20, 400)),
    st.sampled_from(PREFIXES),
    st.sampled_from(DAMAGE),
    st.sampled_from(["\n", "\n\n", "\r\n", " "]),
    st.text(max_size=20),
)


@given(st.lists(FRAGMENTS, max_size=25).map("".join))
@settings(max_examples=examples(300), deadline=None, suppress_health_check=list(HealthCheck))
def test_fragments_of_real_lines_in_any_order(text: str) -> None:
    survive(text.encode("utf-8", "replace"))


@given(st.binary(max_size=2000))
@settings(max_examples=examples(200), deadline=None)
def test_bytes(data: bytes) -> None:
    survive(data)


def survive(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = log_of(Path(folder), data)
    assert {len(values) for values in log.columns.values()} in ({len(log.columns.get("line", []))}, set())
    for row in rows_of(log):
        assert list(row) == list(COLUMNS)
        assert 1 <= row["line"] <= data.count(b"\n") + 1
        assert 0 <= row["offset"] <= len(data)
        assert len(row["text"]) <= TEXT
        assert row["text"].isprintable() or not any(ord(c) < 32 and c not in "\t\n" for c in row["text"])
    found = tables([LogPart(log, "job.log", 1_770_000_000_000_000_000)])
    assert found.events.height == len(log.columns.get("line", []))
    exits.table(exits.from_events(found.events, found.logs))


#: What makes a search slow: long runs of what a pattern may repeat, before or after its own words.
RUNS = [
    unit * (LINE // len(unit))
    for unit in ("a", "1", " ", "a ", "1, ", "[", "(", "aA1_.", "rank 1 ", "a:", "0x1f ")
]
BY_KIND = {example.kind: example.text for example in [*EXAMPLES, *MACHINE]}


@pytest.mark.parametrize("number", range(len(SHAPES)), ids=lambda n: f"{SHAPES[n].kind}-{n}")
def test_no_line_makes_a_search_endless(number: int) -> None:
    shape = SHAPES[number]
    text = BY_KIND.get(shape.kind, shape.literals[0])
    lines = [shape.literals[0] * (LINE // len(shape.literals[0]))]
    lines += [(text[:-6] * (LINE // len(text) + 1))[:LINE]]
    for run in RUNS:
        lines += [run + shape.literals[0], (text[: len(text) // 2] + run)[:LINE], (text[:-4] + run)[:LINE]]
    for line in lines:
        began = time.process_time()
        shape.regex.search(line)
        assert time.process_time() - began < 0.25, line[:80]


@pytest.mark.parametrize(
    "run", [*RUNS, *(prefix * 2000 for prefix in PREFIXES)], ids=lambda run: repr(run[:12])
)
def test_no_line_makes_peeling_endless(run: str) -> None:
    began = time.process_time()
    for prefix in ("", *PREFIXES, "2026-02-07 ", "[", "(A("):
        peel(prefix + run)
        pieces(prefix + run)
    assert time.process_time() - began < 2


def test_a_number_that_fits_no_column_is_left_out(tmp_path: Path) -> None:
    line = "[rank3]:[E207 08:41:09.5 X.cpp:6] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=99999999999999999999, OpType=ALLREDUCE, NumelIn=9223372036854775808, NumelOut=4, Timeout(ms)=600000) ran for 1 milliseconds"  # noqa: E501
    (row,) = rows_of(log_of(tmp_path, line))
    assert (row["seq"], row["size_in"], row["size_out"]) == (None, None, 4)


def test_control_characters_do_not_reach_the_table(tmp_path: Path) -> None:
    (row,) = rows_of(log_of(tmp_path, "[rank1]: RuntimeError: Socket Timeout \x07\x1b[2J\u202eabc\n"))
    assert row["text"].split() == ["RuntimeError:", "Socket", "Timeout", "abc"]
