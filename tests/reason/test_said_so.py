"""Sums that disagree, and a member that says it left something out: when that counts, and when not."""

from __future__ import annotations

from support.reason.building import START, Call, Job, Step, case_of, loop
from support.reason.witnesses import Witnesses, blamed

from rankandfile.model.diagnosis import Verdict
from rankandfile.reason import diagnose

WORLD = "0"
SKIPPED = "WARNING bad sample, batch skipped: token 7"


def exchange(*said: tuple[int, str, float], given: int = 16) -> Verdict:
    """Four members in one all_to_all; rank 2 gives as much as told. `said`: rank, line, seconds before the call."""
    programs: dict[int, list[Step]] = {}
    for rank in range(4):
        last = ([[given if rank == 2 else 16]], [[16]])
        programs[rank] = [
            *loop([Call(WORLD, "all_reduce", 64, "a.py:5")], 3),
            Call(WORLD, "all_to_all", 16, "a.py:9", sizes=last),
        ]
    witnesses = Witnesses(case_of(Job({WORLD: [0, 1, 2, 3]}, programs, stalled=frozenset({(WORLD, 4)}))))
    for rank, line, before_s in said:
        at = START + 30_000_000 - int(before_s * 1e9)
        witnesses.event("left_out", "fact", rank, line, time_ns=at)
    return diagnose(witnesses.case).verdicts[0]


def test_sums_alone_blame_nobody() -> None:
    verdict = exchange(given=24)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("split_mismatch", "hypothesis", [])


def test_the_one_that_says_it_left_something_out() -> None:
    verdict = exchange((2, SKIPPED, 2.0), given=24)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("skipped_collective", "supported", [2])
    assert SKIPPED in verdict.sentence
    verdict = exchange((2, "WARNING KeyError ignored, sample dropped", 2.0), given=24)
    assert (verdict.cause, blamed(verdict)) == ("swallowed_exception", [2])


def test_it_counts_for_nothing_where_others_say_it_too_or_long_before_or_where_the_sums_agree() -> None:
    assert blamed(exchange((2, SKIPPED, 2.0), (0, SKIPPED, 90.0), given=24)) == []
    assert blamed(exchange((2, SKIPPED, 2.0), (2, SKIPPED, 400.0), given=24)) == []
    assert blamed(exchange((2, SKIPPED, 400.0), given=24)) == []
    assert blamed(exchange((2, SKIPPED, -5.0), given=24)) == []
    assert blamed(exchange((2, SKIPPED, 2.0))) == []
