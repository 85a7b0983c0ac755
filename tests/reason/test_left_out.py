"""A transfer that was left out, where the next one that comes in its place is of another size."""

from __future__ import annotations

from support.reason.building import Call, Job, Step, case_of, loop

from rankandfile.model.diagnosis import Verdict
from rankandfile.reason import diagnose

WORLD = "0"
SYNC = Call(WORLD, "all_reduce", 1, "optimizer.py:24")


def stage(rank: int, stages: int) -> list[Step]:
    """Activations go forward, then every stage swaps its numbers with both neighbours."""
    here: list[Step] = []
    for size, site in ((64, "pipeline.py:7"), (2, "numbers.py:4")):
        here += [Call("pp", "recv", size, f"{site}6", peer=rank - 1)] * (rank > 0)
        here += [Call("pp", "send", size, f"{site}0", peer=rank + 1)] * (rank < stages - 1)
    return here


def verdict_of(left_out: int | None, stages: int) -> Verdict:
    """The rank leaves out its second send of the first step, and goes on to the next; sizes that differ end nothing."""
    ranks = list(range(stages))
    programs = {rank: [SYNC, *loop(stage(rank, stages), 3), SYNC] for rank in ranks}
    if left_out is not None:
        programs[left_out] = [SYNC, *stage(left_out, stages)[:-1], *loop(stage(left_out, stages), 2), SYNC]
    return diagnose(case_of(Job({WORLD: ranks, "pp": ranks}, programs, backend="gloo"))).verdicts[0]


def test_whoever_left_it_out_or_awaits_too_much() -> None:
    verdict = verdict_of(2, 4)
    assert (verdict.cause, verdict.confidence, verdict.culprits) == ("skipped_collective", "supported", [])
    assert {a.culprits for a in verdict.alternatives} == {"2", "3"}
    assert "Rank 1 made the send at numbers.py:40" in verdict.sentence


def test_a_healthy_one() -> None:
    assert verdict_of(None, 4).cause == "no_hang"


def test_a_send_that_is_left_out_last_by_the_ranks_own_earlier_steps() -> None:
    """Nothing is seen to follow but a receive, and that is due later in the step: no call too many."""
    lines = {"send": 7, "recv": 9}

    def step(rank: int, activations: int) -> list[Step]:
        first, then = ("send", "recv") if rank == 0 else ("recv", "send")
        moves = [first] * activations + [then] * 3
        return [SYNC, *(Call("pp", op, 64, f"pipeline.py:{lines[op]}", peer=1 - rank) for op in moves)]

    programs = {rank: loop(step(rank, 3), 4) for rank in (0, 1)}
    programs[0] = [*loop(step(0, 3), 3), *step(0, 2)]
    verdict = diagnose(case_of(Job({WORLD: [0, 1], "pp": [0, 1]}, programs, backend="gloo"))).verdicts[0]
    assert (verdict.cause, [c.rank for c in verdict.culprits]) == ("skipped_collective", [0])
