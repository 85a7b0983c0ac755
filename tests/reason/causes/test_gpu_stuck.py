"""`gpu_stuck`: all have come, and one device never gets to the call."""

from __future__ import annotations

from support.reason import absent_rank, data_parallel, lost_dumps, machines
from support.reason.building import WORLD, Hold, Job, case_of, loop
from support.reason.witnesses import (
    Witnesses,
    best,
    blamed,
)


def test_a_log_does_not_say_whether_the_device_has_begun_the_call() -> None:
    """All began the call in which the network stalls; of rank 0, whose dump is cut short, only its log tells of it."""
    programs = {rank: loop(lost_dumps.BODY, 6) for rank in range(4)}
    job = Job({WORLD: [0, 1, 2, 3]}, programs, stalled=frozenset({(WORLD, 11)}), timing=True)
    assert best(Witnesses(case_of(job)).gave_up(0, 11)).cause != "gpu_stuck"
    verdict = best(Witnesses(case_of(job, truncated=[0])).gave_up(0, 11))
    assert (verdict.cause == "gpu_stuck", blamed(verdict)) == (False, [])


def test_a_kernel_that_holds_the_device_back_is_still_seen() -> None:
    programs = {rank: loop(absent_rank.BODY, 6) for rank in range(4)}
    programs[1] = [*loop(absent_rank.BODY, 4), Hold(), *loop(absent_rank.BODY, 2)]
    held = Job({WORLD: [0, 1, 2, 3]}, programs, timing=True)
    witnesses = Witnesses(case_of(held))
    for rank in range(4):
        witnesses.gave_up(rank, 9)
    assert best(witnesses).cause == "gpu_stuck"


def gave_up(witnesses: Witnesses, *ranks: int, at_s: int = 600) -> Witnesses:
    for rank in ranks:
        witnesses.gave_up(rank, 6, time_ns=at_s * 1_000_000_000)
    return witnesses


def stuck(witnesses: Witnesses, rank: int, at_s: int) -> Witnesses:
    text = "ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress"
    return witnesses.event(
        "heartbeat_stuck", "messenger", rank, text, waited_ms=480_000, time_ns=at_s * 1_000_000_000
    )


def test_the_one_watchdog_that_stood_still() -> None:
    verdict = best(stuck(gave_up(machines.stalled(), 0, 1, 3), 2, at_s=590))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("gpu_stuck", "supported", [2])
    assert verdict.alternatives[0].cause == "host_blocked"


def test_a_watchdog_that_stands_still_after_others_gave_up_is_an_echo() -> None:
    assert blamed(best(stuck(gave_up(machines.stalled(), 0, 1, 3), 2, at_s=1200))) == []


def test_a_watchdog_that_gave_up_itself_did_not_stand_still() -> None:
    assert blamed(best(stuck(gave_up(machines.stalled(), 0, 1, 2, 3), 2, at_s=590))) == []


def test_all_joined_and_one_device_never_got_there() -> None:
    job = data_parallel.world(
        4, {3: [*loop(data_parallel.STEP, 3), Hold(), *data_parallel.STEP]}, timing=True
    )
    verdict = data_parallel.only(case_of(job))
    assert (verdict.cause, blamed(verdict)) == ("gpu_stuck", [3])
