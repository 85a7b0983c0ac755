"""NCCL's RAS service as JSON, with the comma that one version forgets, and with anything else in its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.evidence.reading_logs import kinds_of, log_of, rows_of
from support.examples import examples

from rankandfile.evidence.text.logs.ras.as_json import is_one, read

STATUS = {
    "init_state": 0,
    "async_error": 0,
    "finalize_called": False,
    "destroy_flag": False,
    "abort_flag": False,
}


def rank(number: int, counts: dict[str, int], **status: Any) -> dict[str, Any]:
    place = {"rank": number, "host": "10.1.2.3", "pid": 4000 + number, "cuda_dev": number, "nvml_dev": number}
    return {**place, "status": {**STATUS, **status}, "collective_counts": counts}


def gone(number: int, dead: bool) -> dict[str, Any]:
    place = {"rank": number, "host": "10.1.2.4", "pid": 4000 + number, "cuda_dev": 0, "nvml_dev": 0}
    return {**place, "status": {"unresponsive": True, "considered_dead": dead}}


DOCUMENT = {
    "nccl_version": "2.28.9",
    "communicators": [
        {
            "hash": "5c1e77aa02b9d314", "size": 4, "ranks_count": 3, "missing_ranks_count": 1,
            "ranks": [rank(0, {"AllReduce": 912}), rank(1, {"AllReduce": 912}), rank(2, {"AllReduce": 911}, init_state=7)],  # noqa: E501
            "missing_ranks": [gone(3, True)],
        },
        {"hash": "77aa", "size": 2, "ranks": [rank(0, {}), rank(1, {})], "missing_ranks": []},
    ],
}  # fmt: skip


KINDS = ["ras_communicator", "ras_mismatch", "ras_missing_ranks", "ras_dead", "ras_communicator"]


def test_counts_and_missing_ranks(tmp_path: Path) -> None:
    log = log_of(tmp_path, json.dumps(DOCUMENT, indent=1), "ras.json")
    rows = rows_of(log)
    assert kinds_of(rows) == KINDS
    summary, mismatch, missing, dead, _ = rows
    assert (missing["about"], missing["fields"]["size"]) == ([3], 4)
    assert summary["fields"]["states"] == {"running": 2, "initialising": 1}
    assert (mismatch["op"], mismatch["about"], mismatch["about_in"]) == ("AllReduce", [2], "group")
    assert mismatch["fields"]["listed"] == [{"rank": 2, "count": 911, "pid": 4002, "host": "10.1.2.3"}]
    assert (dead["group_rank"], dead["pid"], dead["host"]) == (3, 4003, "10.1.2.4")
    assert log.row.world_size == 4
    assert not log.notes
    assert rows[4]["line"] > rows[0]["line"] > 1


def test_the_forgotten_comma_is_put_in(tmp_path: Path) -> None:
    text = json.dumps(DOCUMENT, indent=1).replace(
        '"nvml_dev": 0,\n     "status": {\n      "unresponsive"',
        '"nvml_dev": 0\n     "status": {\n      "unresponsive"',
    )
    with pytest.raises(json.JSONDecodeError):
        json.loads(text)
    log = log_of(tmp_path, text)
    assert kinds_of(rows_of(log)) == KINDS
    assert "1 missing comma" in log.notes[0].what


def test_what_is_no_answer_is_a_note() -> None:
    for data in (b'{"communicators": [', b'{"communicators": 1}'[:-1], b"\xff"):
        events, notes = read(data)
        assert events == []
        assert len(notes) == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["communicators", "ranks", "missing_ranks", "rank", "status", "collective_counts", "size", "hash", "x"]),  # noqa: E501
        inner, max_size=4,
    ),
    max_leaves=20,
)  # fmt: skip


@given(JSON)
@settings(max_examples=examples(300), deadline=None)
def test_any_json_is_survived(value: Any) -> None:
    data = json.dumps({"communicators": value}).encode()
    assert is_one(data)
    events, _ = read(data)
    assert all(event.role == "fact" for event in events)
