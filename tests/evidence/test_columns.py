"""Calls that repeat are recognised; recognising never mistakes one call for another."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.evidence.sample_dumps import as_recorded, case_of_objects, one_rank, plain, recorded

from rankandfile.evidence.flight.columns import fill
from rankandfile.evidence.flight.interning import GUESSES
from rankandfile.evidence.raw import RawDump, unpack_repeats


def filled(entries: list[dict[str, Any]]) -> RawDump:
    dump, notes = RawDump(format="pickle"), []
    fill(dump, entries, notes)
    assert notes == []
    return dump


def test_a_thousand_like_calls_are_two_kinds() -> None:
    dump = filled(plain(one_rank(0, calls=1000))["entries"])
    repeats = unpack_repeats(dump.repeats)
    # Each of the two calls is seen completed, and the last one under way.
    assert len(repeats.kinds) == 3
    assert len(repeats.frames) == 4
    assert len(repeats.stacks) == len(repeats.shapes) == 2
    assert dump.calls == 1000


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("profiling_name", "nccl:broadcast"),
        ("process_group", ("7", "default_pg")),
        ("input_sizes", [[4, 9]]),
        ("input_sizes", [[4, 8], [1]]),
        ("input_dtypes", ["Half"]),
        ("output_sizes", []),
        ("output_dtypes", []),
        ("retired", False),
        ("is_p2p", True),
        ("timeout_ms", 5),
        ("thread_id", "1"),
        ("thread_name", "other"),
        ("frames", []),
        ("frames", [{"name": "all_reduce", "filename": "/job/train.py", "line": 1}]),
    ],
)
def test_a_call_that_differs_in_one_thing_is_not_taken_for_its_neighbours(key: str, value: Any) -> None:
    entries = plain(one_rank(0, calls=40))["entries"]
    entries[20][key] = value
    case = case_of_objects({0: {"version": "2.10", "entries": entries}})
    assert as_recorded(case, 0) == recorded(entries)


@given(st.lists(st.integers(0, GUESSES * 3), min_size=1, max_size=120))
def test_any_order_of_many_kinds_is_recognised_rightly(order: list[int]) -> None:
    template = plain(one_rank(0, calls=1))["entries"][0]
    entries = [
        template
        | {
            "record_id": record,
            "profiling_name": f"nccl:op{kind % 4}",
            "input_sizes": [[kind // 2]],
            "frames": template["frames"][: kind % 3],
        }
        for record, kind in enumerate(order)
    ]
    case = case_of_objects({0: {"version": "2.10", "entries": entries}})
    assert as_recorded(case, 0) == recorded(entries)


def test_frames_that_are_one_object_and_frames_that_are_equal_are_the_same_frame() -> None:
    entries = plain(one_rank(0, calls=20))["entries"]
    apart = [entry | {"frames": [dict(frame) for frame in entry["frames"]]} for entry in entries]
    assert filled(apart).repeats == filled(entries).repeats


def test_what_frames_hold_beyond_the_format_is_not_kept() -> None:
    entries = plain(one_rank(0, calls=4))["entries"]
    for entry in entries:
        entry["frames"] = [frame | {"locals": {"password": "x"}} for frame in entry["frames"]]
    assert b"password" not in filled(entries).repeats
    assert len(unpack_repeats(filled(entries).repeats).frames) == 4


def test_a_lone_surrogate_in_a_name_can_be_stored() -> None:
    entries = plain(one_rank(0, calls=1))["entries"]
    entries[0]["process_group"] = ("0", "mesh\ud800")
    entries[0]["frames"] = [{"name": "f\udfff", "filename": "/ö/x.py", "line": 1}]
    dump = filled(entries)
    assert dump.groups == [("0", "mesh?")]
    frame = unpack_repeats(dump.repeats).frames[0]
    assert (frame.function, frame.file) == ("f?", "/ö/x.py")


def test_no_object_of_a_call_survives_decoding() -> None:
    """What leaves the decoder is bytes, whose size does not depend on what an entry weighs in Python."""
    small, large = (filled(plain(one_rank(0, calls=n))["entries"]) for n in (100, 1000))
    assert len(large.kinds) == 4000
    assert [len(column) for column in large.integers] == [8000] * 7
    assert len(large.durations_ms) == 8000
    assert len(large.repeats) == len(small.repeats)
