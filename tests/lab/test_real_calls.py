"""The independent call log: which group a call belongs to, and logs that end abruptly or never began."""

from __future__ import annotations

import json
from pathlib import Path

from rankandfile.lab import calls


def raw(path: Path, *lines: dict[str, object], tail: str = "") -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + tail)
    return path


def call(n: int, op: str, seqs: dict[str, int], hint: str | None = None) -> dict[str, object]:
    stack = [["train.py", 10 + n, "step"]]
    return {"kind": "call", "n": n, "t": 1.0 * n, "op": op, "hint": hint, "seqs": seqs, "stack": stack}


def test_the_group_is_the_one_whose_number_moves(tmp_path: Path) -> None:
    path = raw(
        tmp_path / "calls_0.raw",
        {"kind": "group", "name": "0", "desc": "default_pg", "ranks": [0, 1]},
        call(0, "all_reduce", {"0": 0, "3": 0}),
        call(1, "all_reduce", {"0": 0, "3": 1}),
        call(2, "send", {"0": 1, "3": 1}, hint="3"),
        call(3, "barrier", {"0": 1, "3": 1}),
        {"kind": "request", "t": 9.0, "seqs": {"0": 1, "3": 2}},
    )
    log = calls.merge_raw({0: path})
    assert [(c.group, c.seq) for c in log.calls] == [("3", 1), ("0", 1), ("3", 0), ("3", 2)]


def test_a_group_made_anew_counts_from_one_again(tmp_path: Path) -> None:
    numbers = [0, 1, 2, 0, 1]
    path = raw(
        tmp_path / "r", *(call(n, "all_reduce", {"0": seq}, hint="0") for n, seq in enumerate(numbers))
    )
    assert [c.seq for c in calls.merge_raw({0: path}).calls] == [1, 2, 3, 1, 2]


def test_the_callers_own_variable_comes_first(tmp_path: Path) -> None:
    path = raw(tmp_path / "r", call(0, "all_reduce", {"0": 4, "3": 0}, hint="3"))
    assert [(c.group, c.seq) for c in calls.merge_raw({0: path}).calls] == [("3", 1)]


def test_a_line_cut_off_by_a_kill_is_left_out(tmp_path: Path) -> None:
    path = raw(tmp_path / "r", call(0, "barrier", {"0": 0}), tail='{"kind": "call", "n": 1, "op": "bro')
    assert [c.op for c in calls.merge_raw({0: path, 1: tmp_path / "missing"}).calls] == ["barrier"]


def test_what_was_written_is_read_back_also_when_nothing_happened(tmp_path: Path) -> None:
    full = calls.merge_raw(
        {
            0: raw(
                tmp_path / "r",
                {"kind": "group", "name": "0", "desc": "default_pg", "ranks": [0]},
                call(0, "barrier", {"0": 0}),
            )
        }
    )
    for log in (full, calls.CallLog((), ())):
        calls.write(log, tmp_path / "calls.jsonl")
        assert calls.read(tmp_path / "calls.jsonl") == log
