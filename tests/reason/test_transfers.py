"""Sends and receives: paired by source, destination and order, never taken for collectives of the whole group."""

from __future__ import annotations

from typing import Any

import pytest
from support.reason.building import Call, Job, Step, Stop, case_of, loop

from rankandfile.model.diagnosis import Verdict
from rankandfile.reason import conclude, diagnose, gather
from rankandfile.reason.explain import explain

WORLD = "0"
SYNC = Call(WORLD, "all_reduce", 1, "optimizer.py:24")


def send(peer: int) -> Call:
    return Call("pp", "send", 64, "pipeline.py:70", peer=peer)


def recv(peer: int) -> Call:
    return Call("pp", "recv", 64, "pipeline.py:76", peer=peer)


def pipeline(rank: int, stages: int) -> list[Step]:
    forward: list[Step] = [recv(rank - 1)] * (rank > 0) + [send(rank + 1)] * (rank < stages - 1)
    backward: list[Step] = [recv(rank + 1)] * (rank < stages - 1) + [send(rank - 1)] * (rank > 0)
    return [*forward, *forward, *backward, *backward, SYNC]


def job(stages: int = 4, steps: int = 5) -> Job:
    ranks = list(range(stages))
    return Job({WORLD: ranks, "pp": ranks}, {r: loop(pipeline(r, stages), steps) for r in ranks})


def culprits(verdict: Verdict) -> list[int]:
    return [c.rank for c in verdict.culprits]


def test_a_healthy_pipeline() -> None:
    for ring in (None, 12):
        verdict = diagnose(case_of(job(), ring=ring)).verdicts[0]
        assert (verdict.cause, verdict.hang) == ("no_hang", False)


def test_a_stage_stops_on_the_host() -> None:
    stuck = job()
    stuck.programs[2] = [*loop(pipeline(2, 4), 3), recv(1), Stop()]
    for ring in (None, 14):
        verdict = diagnose(case_of(stuck, ring=ring)).verdicts[0]
        assert culprits(verdict) == [2]


def test_a_receive_is_left_out() -> None:
    stuck = job()
    broken = pipeline(1, 4)
    del broken[0]
    stuck.programs[1] = [*loop(pipeline(1, 4), 4), *broken]
    verdict = diagnose(case_of(stuck)).verdicts[0]
    assert (verdict.cause, culprits(verdict)) == ("skipped_collective", [1])


def test_two_ranks_that_both_send_first() -> None:
    """Neither's receive is reached: the streams wait for each other, and neither order is the right one."""
    programs: dict[int, list[Step]] = {0: [SYNC, send(1), recv(1)], 1: [SYNC, send(0), recv(0)]}
    both = Job({WORLD: [0, 1], "pp": [0, 1]}, programs)
    verdict = diagnose(case_of(both)).verdicts[0]
    assert verdict.hang
    assert culprits(verdict) in ([], [0, 1])


def test_a_pair_that_cannot_be_numbered_is_said_to_be_ambiguous() -> None:
    """Both rings wrapped, and no collective between the transfers to count from."""
    programs: dict[int, list[Step]] = {0: [*loop([send(1)], 30)], 1: [*loop([recv(0)], 20), Stop()]}
    facts = gather(case_of(Job({WORLD: [0, 1], "pp": [0, 1]}, programs), ring=8))
    assert facts.pairing.ambiguous
    (verdict,) = conclude(facts).verdicts
    assert (verdict.hang, verdict.cause, culprits(verdict)) == (True, "undetermined", [])
    assert "ambiguous" in verdict.sentence
    assert "left no complete dump" not in verdict.sentence, "its dump is here"
    assert "cannot be told" in str(explain(facts, 0)) and "cannot be told" in str(explain(facts, 1))


@pytest.mark.parametrize(
    ("more", "cause"), [({"size": 128}, "size_mismatch"), ({"dtype": "Half"}, "dtype_mismatch")]
)
def test_two_halves_of_a_transfer_that_do_not_fit(more: dict[str, Any], cause: str) -> None:
    """Which of the two is wrong they do not tell; that neither gets on, they do."""
    programs: dict[int, list[Step]] = {0: [SYNC, send(1)], 1: [SYNC, recv(0)._replace(**more)]}
    job = Job({WORLD: [0, 1], "pp": [0, 1]}, programs, stalled=frozenset({("pp", 0)}))
    (verdict,) = diagnose(case_of(job)).verdicts
    assert (verdict.cause, verdict.victims, culprits(verdict)) == (cause, "0,1", [])
    assert {other.culprits for other in verdict.alternatives} == {"0", "1", ""}
    assert (verdict.confidence, verdict.alternatives[-1].cause) == ("supported", "skipped_collective")
