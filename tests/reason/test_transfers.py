"""Sends and receives: paired by source, destination and order, never taken for collectives of the whole group."""

from __future__ import annotations

from typing import Any

import pytest
from support.reason.building import WORLD, Job, Step, Stop, case_of, loop
from support.reason.transfers import SYNC, job, pipeline, recv, send
from support.reason.witnesses import blamed

from rankandfile.reason import conclude, diagnose, gather
from rankandfile.reason.explain import explain


def test_a_stage_stops_on_the_host() -> None:
    stuck = job()
    stuck.programs[2] = [*loop(pipeline(2, 4), 3), recv(1), Stop()]
    for ring in (None, 14):
        verdict = diagnose(case_of(stuck, ring=ring)).verdicts[0]
        assert blamed(verdict) == [2]


def test_a_pair_that_cannot_be_numbered_is_said_to_be_ambiguous() -> None:
    """Both rings wrapped, and no collective between the transfers to count from."""
    programs: dict[int, list[Step]] = {0: [*loop([send(1)], 30)], 1: [*loop([recv(0)], 20), Stop()]}
    facts = gather(case_of(Job({WORLD: [0, 1], "pp": [0, 1]}, programs), ring=8))
    assert facts.pairing.ambiguous
    (verdict,) = conclude(facts).verdicts
    assert (verdict.hang, verdict.cause, blamed(verdict)) == (True, "undetermined", [])
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
    assert (verdict.cause, verdict.victims, blamed(verdict)) == (cause, "0,1", [])
    assert {other.culprits for other in verdict.alternatives} == {"0", "1", ""}
    assert (verdict.confidence, verdict.alternatives[-1].cause) == ("supported", "skipped_collective")
