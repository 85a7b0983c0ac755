"""Ranks that fall behind, and calls that pile up: what is told of their rings, and what is not."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from support.capture.recorded import job

from rankandfile.capture.sentinel.clocks import Clocks
from rankandfile.capture.sentinel.sentinel import Sentinel
from rankandfile.capture.watch.rings import look
from rankandfile.model.digest import Finding

STEP_S, STEPS = 1.0, 170
Late = Callable[[int, int], float]


def watched(folder: Path, late: Late, size: int = 3, steps: int = STEPS) -> list[Finding]:
    """A job that steps once a second; `late` says how much later a rank comes to the call of a step."""
    ranks, sentinel, found = job(folder, size), Sentinel(), []
    for step in range(steps):
        ago = (steps - step) * STEP_S
        for number, rank in enumerate(ranks):
            rank.call(1, 10, ago=ago - late(step, number))
        found += sentinel.look(look(folder), time.time() - ago + STEP_S)
    return found


def test_who_gets_slower_than_it_was(tmp_path: Path) -> None:
    """By how much, since when, and where; and when it is over."""
    (found, over) = watched(
        tmp_path, lambda step, rank: 0.6 if rank == 1 and 60 <= step < 120 else 0.01 * rank
    )
    assert (found.kind, found.certainty, found.ranks, found.over) == ("behind", "likely", "1", False)
    assert "rank 1 falls behind, and is not stuck" in found.words
    assert re.search(
        r"lately 0\.5\d s of the \d\.\d\d s from one such call to the next; before, about 0.02 s", found.words
    )
    assert (
        "all_reduce SUM Float [4] of group default_pg [0-2] at train.py:1 in f1() < train.py:10"
        in found.words
    )
    assert abs(found.since - (time.time() - (STEPS - 60) * STEP_S)) < 3
    assert (over.id, over.over) == (found.id, True) and "rank 1 keeps up again" in over.words


def test_who_falls_behind_more_and_more(tmp_path: Path) -> None:
    (found,) = watched(tmp_path, lambda step, rank: 0.008 * max(step - 50, 0) * (rank == 2))
    assert (found.kind, found.ranks) == ("behind", "2")


def always_last(_step: int, rank: int) -> float:
    return 0.6 * (rank == 2)


def now_one_now_another(step: int, rank: int) -> float:
    return random.Random(step).choice((0.0, 0.3, 0.7)) * (rank == step * 7 % 3)


def once_for_long(step: int, rank: int) -> float:
    """An evaluation on the main rank, a checkpoint."""
    return 0.9 * (rank == 0 and step % 40 in range(20, 26))


def all_get_slower(step: int, _rank: int) -> float:
    return 0.005 * step


def a_little_slower(step: int, rank: int) -> float:
    return 0.05 * (rank == 1 and step > 80)


@pytest.mark.parametrize(
    "late", [always_last, now_one_now_another, once_for_long, all_get_slower, a_little_slower]
)
@pytest.mark.parametrize("size", [2, 4])
def test_what_healthy_jobs_do_is_not_told(tmp_path: Path, late: Late, size: int) -> None:
    assert not watched(tmp_path, late, size)


def test_another_part_of_the_program_has_a_past_of_its_own(tmp_path: Path) -> None:
    """In the second part the main rank writes files between two calls; it never was otherwise."""
    ranks, sentinel, found = job(tmp_path, 2), Sentinel(), []
    for step in range(STEPS):
        ago = (STEPS - step) * STEP_S
        for number, rank in enumerate(ranks):
            late = 0.7 if number == 0 and step > 80 else 0.0
            rank.call(1, 20 if step > 80 else 10, ago=ago - late)
        found += sentinel.look(look(tmp_path), time.time() - ago + STEP_S)
    assert not found


def runs_ahead(folder: Path, gap: Callable[[float], float], op: str = "allreduce_") -> list[Finding]:
    """Of two ranks, the first is so many calls ahead after so many seconds."""
    ahead, behind = job(folder, 2)
    sentinel, found, made, came, seconds = Sentinel(), [], 0, 0, 60
    root = 0 if op == "broadcast_" else -1
    for second in range(seconds):
        ago = float(seconds - second)
        came += 5
        for _ in range(came + round(gap(second)) - made):
            ahead.call(30, op=op, root=root, done=False, ago=ago)
        made = max(made, came + round(gap(second)))
        for _ in range(5):
            behind.call(30, op=op, root=root, ago=ago)
        found += sentinel.look(look(folder), time.time() - ago)
    return found


def test_calls_that_pile_up(tmp_path: Path) -> None:
    (found,) = runs_ahead(tmp_path, lambda second: 20 * second)
    assert (found.kind, found.certainty, found.ranks, found.sequence) == ("storm", "certain", "", 81)
    assert found.words.startswith(
        "calls pile up: rank 0 has 300 calls of group default_pg [0,1] in flight that rank 1 has"
    )
    assert re.search(
        r"300 more than 1\d s ago; rank 1 makes calls too, and fewer. The oldest is call 81", found.words
    )
    assert [(side.ranks, side.path[0].line if side.path else 0) for side in found.sides] == [
        ("0", 30),
        ("1", 0),
    ]


def test_ranks_that_keep_step_are_ahead_in_turns(tmp_path: Path) -> None:
    """Which of them is the first at a look is chance, and does not make the pile another one."""
    *ahead, behind = job(tmp_path, 3)
    sentinel, found, made = Sentinel(), [], [0, 0]
    for second in range(40):
        ago = float(40 - second)
        for number, rank in enumerate(ahead):
            upto = 20 * second + 7 * (second // 5 % 2 == number)
            for _ in range(upto - made[number]):
                rank.call(30, done=False, ago=ago)
            made[number] = max(made[number], upto)
        behind.call(30, ago=ago)
        found += sentinel.look(look(tmp_path), time.time() - ago)
    assert [one.kind for one in found] == ["storm"]
    assert re.match(r"calls pile up: rank [01] has \d+ calls of .* in flight that rank 2 has", found[0].words)


@pytest.mark.parametrize("gap", [lambda second: min(40 * second, 400), lambda second: second * 40 % 400])
def test_hosts_that_run_ahead_of_each_other_are_not_told(
    tmp_path: Path, gap: Callable[[float], float]
) -> None:
    """Up to where a queue is full, or until the host waits."""
    assert not runs_ahead(tmp_path, gap)


def test_a_root_may_be_ahead(tmp_path: Path) -> None:
    assert not runs_ahead(tmp_path, lambda second: 20 * second, op="broadcast_")


def heard(offset: float, delays: Sequence[float]) -> Finding | None:
    """Of a node whose clock is so far behind ours."""
    clocks = Clocks()
    for number, delay in enumerate(delays):
        clocks.hear("b", 1e9 + number - offset, 1e9 + number + delay)
    return clocks.apart({"b": "node-b"}, "node-a", 1e9)


def test_clocks_that_are_apart() -> None:
    (behind, ahead) = heard(40.0, [1.0] * 8), heard(-40.0, [1.0] * 8)
    assert behind is not None and "that of node-a is 11 s ahead of that of node-b" in behind.words
    assert ahead is not None and "that of node-b is 39 s ahead of that of node-a" in ahead.words


@pytest.mark.parametrize("delays", [[1.0] * 8, [30.0] * 8, [0.0] * 8, [2.0] * 4])
def test_words_that_are_long_under_way_put_no_clocks_apart(delays: Sequence[float]) -> None:
    assert heard(0.5, delays) is None and heard(-0.5, delays) is None
