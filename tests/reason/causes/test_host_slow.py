"""`host_slow`: a rank's process moves, and comes late."""

from __future__ import annotations

from typing import Any

import pytest
from support.reason import absent_rank
from support.reason.witnesses import IN_LOADER, Frame, at, best, blamed

IN_WRITE: list[Frame] = [("write", "/usr/lib/python3.11/gzip.py", 30), *at(12, "save", "/workspace/keep.py")]
IN_LOCK: list[Frame] = [("acquire", "/usr/lib/python3.11/threading.py", 30), *at(12)]
IN_SYNC: list[Frame] = [
    ("synchronize", "/opt/venv/lib/python3.11/site-packages/torch/cuda/__init__.py", 9),
    *at(12),
]


def test_a_stack_that_moves_is_slow_and_not_stuck() -> None:
    verdict = best(absent_rank.absent().stack(2, at(10), at(14), at(10)))
    assert (verdict.cause, blamed(verdict)) == ("host_slow", [2])
    assert "moving between 3 snapshots" in verdict.sentence


@pytest.mark.parametrize(
    ("frames", "did", "says"),
    [
        (at(10), {"main_s": 3.9}, "its main thread ran for 3.9 s in 4.0 s"),
        (at(10), {"first": "12/200", "last": "14/200"}, "its output went on from 12/200 to 14/200"),
        (IN_LOADER, {"below_s": 3.5}, "a process that it has started ran for 3.5 s in 4.0 s"),
        (IN_LOCK, {"threads_s": 2.0}, "another thread of it ran for 2.0 s in 4.0 s"),
        (at(10), {"bytes": 40_000_000}, "it read or wrote 40.0 MB in 4.0 s"),
    ],
)
def test_whose_process_gets_on_is_slow_though_its_stack_is_the_same(
    frames: list[Frame], did: dict[str, Any], says: str
) -> None:
    verdict = best(absent_rank.absent().stack(2, frames, frames).worked(2, **did))
    assert (verdict.cause, blamed(verdict)) == ("host_slow", [2])
    assert says in verdict.sentence
    assert any(one.cause == "host_blocked" for one in verdict.alternatives)


@pytest.mark.parametrize(
    ("frames", "did"),
    [
        (IN_LOCK, {}),
        (IN_LOCK, {"main_s": 0.1, "bytes": 50_000_000}),  # who waits for a lock writes nothing itself
        (at(10), {"below_s": 4.0}),  # what others do is nothing that it waits for there
        (IN_LOADER, {"main_s": 0.2, "below_s": 0.1}),
    ],
)
def test_whose_process_does_nothing_of_its_own_is_stuck(frames: list[Frame], did: dict[str, Any]) -> None:
    verdict = best(absent_rank.absent().stack(2, frames, frames).worked(2, **did))
    assert (verdict.cause, blamed(verdict)) == ("host_blocked", [2])


def test_who_turns_on_the_spot_for_its_device_does_not_work() -> None:
    verdict = best(absent_rank.absent().stack(2, IN_SYNC, IN_SYNC).worked(2, main_s=4.0))
    assert verdict.cause != "host_slow"


def test_who_moves_and_is_waited_for_a_moment_is_nobodys_culprit() -> None:
    """A save, an evaluation: no watchdog spoke, and no call is older than it may be."""
    verdict = best(absent_rank.absent(waited_s=4.0).stack(2, at(10), at(14), at(10)))
    assert (verdict.cause, blamed(verdict), verdict.hang) == ("host_slow", [], None)
    assert [one.rank for one in verdict.suspects] == [2]


@pytest.mark.parametrize(
    ("frames", "waited_s", "named"),
    [
        (at(10), 4.0, []),  # in the program's own code, which may sleep: calls into C leave no frame
        (at(10), 12.0, [2]),
        (IN_LOCK, 4.0, [2]),
    ],
)
def test_a_pause_that_may_end_by_itself_is_no_hang_after_seconds(
    frames: list[Frame], waited_s: float, named: list[int]
) -> None:
    verdict = best(absent_rank.absent(waited_s=waited_s).stack(2, frames))
    assert blamed(verdict) == named, verdict.sentence
    assert verdict.hang is (True if named else None)


def test_what_those_do_who_wait_says_nothing_of_how_long_it_may_take() -> None:
    verdict = best(absent_rank.absent(waited_s=4.0).stack(2, IN_LOCK).stack(0, at(10)))
    assert (verdict.cause, blamed(verdict)) == ("host_blocked", [2])
