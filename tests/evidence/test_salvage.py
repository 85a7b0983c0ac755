"""Closing a pickle that ends early: only whole entries, and bytes that load."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.evidence.sample_dumps import one_rank, plain
from support.examples import examples

from rankandfile.evidence.flight.salvage import salvage
from rankandfile.lab.flight_writer import write_pickle
from rankandfile.lab.flight_writer_types import VERSIONS

pytestmark = pytest.mark.slow

DATA = {version: write_pickle(one_rank(0, calls=40), version) for version in VERSIONS}


@given(version=st.sampled_from(sorted(DATA)), share=st.floats(0, 1, exclude_max=True))
@settings(max_examples=examples(300))
def test_what_is_kept_is_a_beginning_of_the_whole(version: str, share: float) -> None:
    data = DATA[version]
    found = salvage(data[: int(len(data) * share)])
    assert found.cut
    if found.completed is None:
        assert found.kept == 0
        return
    whole, part = pickle.loads(data), pickle.loads(found.completed)
    assert part.keys() <= whole.keys()
    entries = part.get("entries", [])
    assert len(entries) == found.kept
    assert entries == whole["entries"][: found.kept]
    for key in part.keys() - {"entries"}:
        # A table that had only been opened is an empty one.
        assert part[key] in (whole[key], {})


@pytest.mark.parametrize("protocol", [4, 5])
def test_frames_of_newer_protocols_are_taken_off(protocol: int) -> None:
    data = pickle.dumps(plain(one_rank(0, calls=3000)), protocol)
    for size in range(len(data) - 70_000, len(data), 7919):
        found = salvage(data[:size])
        assert found.completed is not None
        assert len(pickle.loads(found.completed)["entries"]) == found.kept > 1000


def test_to_close_a_cut_dump_takes_no_multiple_of_loading_it() -> None:
    data = write_pickle(one_rank(0, calls=3000))[:-100]

    def seconds(work: Callable[[bytes], object], given: bytes) -> float:
        began = time.process_time()
        work(given)
        return time.process_time() - began

    found = salvage(data)
    assert found.completed is not None and found.kept >= 2990
    loading = min(seconds(pickle.loads, found.completed) for _ in range(5))
    assert min(seconds(salvage, data) for _ in range(5)) < 5 * loading


def test_a_whole_pickle_is_left_as_it_is() -> None:
    found = salvage(DATA["2.10"])
    assert (found.cut, found.kept) == (False, 40)
    assert found.completed is not None
    assert pickle.loads(found.completed) == pickle.loads(DATA["2.10"])


@given(st.binary(max_size=400))
def test_any_bytes_are_survived(data: bytes) -> None:
    found = salvage(b"\x80\x02}(" + data)
    assert 0 <= found.stopped_at <= len(data) + 4


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x80\x02e", "a list ends that never began"),
        (b"\x80\x02cos\nsystem\n", "byte 0x63 makes no sense here"),
        (b"\x80\x02}(u.", "the end comes too soon"),
    ],
)
def test_damage_is_told_from_a_cut(data: bytes, reason: str) -> None:
    found = salvage(data)
    assert (found.cut, found.reason) == (False, reason)
