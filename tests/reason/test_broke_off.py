"""A job that broke off did not hang: who failed first is told, and who came later than the timeout allows."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from support.reason.building import Call, Job, Step, Stop, case_of, loop
from support.reason.witnesses import Witnesses, blamed

from rankandfile.model.case import Case
from rankandfile.reason import diagnose

WORLD = "0"
BODY: list[Step] = [Call(WORLD, "all_reduce", 64, "average.py:17")]
LOST = "RuntimeError: [pair.cc:553] Connection closed by peer [127.0.0.1]:46751"
TIMED_OUT = "RuntimeError: [unbound_buffer.cc:78] Timed out waiting 2000ms for recv operation to complete"


def echo(witnesses: Witnesses, rank: int, words: str) -> Witnesses:
    kind, _, message = words.partition(": ")
    return witnesses.event("traceback", "echo", rank, words, exception=kind, message=message, frames=[])


def broken_off(waited_s: float = 0.5) -> Witnesses:
    """Rank 1 ended in call 4, rank 3 went on to call 5; the others lost their connections to it."""
    programs: dict[int, list[Step]] = {rank: [*loop(BODY, 4), Stop()] for rank in range(4)}
    programs[3] = loop(BODY, 5)
    job = Job({WORLD: [0, 1, 2, 3]}, programs, backend="gloo")
    witnesses = Witnesses(case_of(job, lost=[1], waited_s=waited_s))
    for rank in (0, 2, 3):
        witnesses = echo(witnesses, rank, LOST).exit(rank, 1)
    return witnesses


def test_a_rank_was_killed_and_its_peers_noticed() -> None:
    verdict = diagnose(broken_off().exit(1, "SIGKILL").case).verdicts[0]
    assert (verdict.hang, verdict.cause, blamed(verdict), verdict.victims) == (False, "killed", [1], "")
    assert "did not hang, it broke off: rank 1: killed by SIGKILL" in verdict.sentence


def test_a_rank_raised_and_its_peers_noticed() -> None:
    verdict = diagnose(broken_off().raised(1, "ValueError: no shard 7").exit(1, 1).case).verdicts[0]
    assert (verdict.hang, verdict.cause, blamed(verdict)) == (False, "raised", [1])


@pytest.mark.parametrize(
    "witnesses",
    [
        broken_off(waited_s=600).exit(1, "SIGKILL"),
        broken_off().exit(1, "running"),
        echo(broken_off(), 1, LOST).exit(1, 1),
        broken_off().exit(1, "SIGKILL").gave_up(0, 5),
    ],
    ids=["ended long after its last call", "one is still there", "nobody failed first", "a watchdog gave up"],
)
def test_what_may_have_hung_before_it_ended_is_no_job_that_broke_off(witnesses: Witnesses) -> None:
    assert not any("broke off" in verdict.sentence for verdict in diagnose(witnesses.case).verdicts)


def late(by_s: float, *echoes: str) -> Case:
    """All came to one call, rank 0 so much later; the group allows two seconds."""
    job = Job({WORLD: [0, 1, 2]}, {rank: list(BODY) for rank in range(3)}, backend="gloo")
    witnesses = Witnesses(case_of(job, waited_s=0.5))
    for rank, words in enumerate(echoes):
        witnesses = echo(witnesses, rank, words).exit(rank, 1)
    moved = pl.when(pl.col("rank") == 0).then(pl.col("created_ns") + int(by_s * 1e9)).otherwise("created_ns")
    calls = witnesses.case.calls.with_columns(created_ns=moved, timeout_ms=pl.lit(2000, pl.Int64))
    return replace(witnesses.case, calls=calls)


def test_who_came_after_the_others_had_given_up_came_late_and_nothing_hung() -> None:
    verdict = diagnose(late(3.1, LOST, TIMED_OUT, TIMED_OUT)).verdicts[0]
    assert (verdict.hang, verdict.cause, blamed(verdict)) == (False, "too_short_timeout", [0])
    assert "after the 2 s that the group allows" in verdict.sentence


@pytest.mark.parametrize(
    "case",
    [
        late(1.0, LOST, TIMED_OUT, TIMED_OUT),
        late(3.1, TIMED_OUT, TIMED_OUT, TIMED_OUT),
        late(3.1, LOST, LOST, LOST),
    ],
    ids=["in time", "its own patience was over too", "nobody's was"],
)
def test_a_rank_that_may_have_come_in_time_is_not_blamed(case: Case) -> None:
    assert all(blamed(verdict) == [] for verdict in diagnose(case).verdicts)


def test_where_all_exited_with_an_error_and_no_log_tells_why_nobody_was_first() -> None:
    job = Job({WORLD: [0, 1, 2]}, dict.fromkeys(range(3), loop(BODY, 3)), stalled=frozenset({(WORLD, 3)}))
    witnesses = Witnesses(case_of(job))
    for rank in range(3):
        witnesses.exit(rank, 1)
    assert all(blamed(verdict) == [] for verdict in diagnose(witnesses.case).verdicts)
