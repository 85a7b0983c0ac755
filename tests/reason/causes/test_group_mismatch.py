"""`group_mismatch`: a rank made a call on another group than its peers."""

from __future__ import annotations

from support.reason.building import WORLD, Call, Job, Step, case_of, loop
from support.reason.witnesses import best, blamed

GROUPS = {"tp0": [0, 1, 2], "tp1": [3, 4, 5], "dp0": [0, 3], "dp1": [1, 4], "dp2": [2, 5]}


def body(rank: int, metrics: str) -> list[Step]:
    tp, dp = f"tp{rank // 3}", f"dp{rank % 3}"
    return [
        Call(tp, "all_reduce", 2048, "layers.py:15"),
        Call(dp, "all_reduce", 4096, "optimizer.py:10"),
        Call(tp if metrics == "tp" else dp, "all_reduce", 8, "metrics.py:11"),
    ]


def test_the_same_line_on_another_group() -> None:
    programs = {rank: loop(body(rank, "tp"), 6) for rank in range(6)}
    programs[4] = [*loop(body(4, "tp"), 3), *loop(body(4, "dp"), 3)]
    descs = {name: f"mesh_{name[:2]}" for name in GROUPS}
    verdict = best(case_of(Job({WORLD: list(range(6)), **GROUPS}, programs, descs=descs)))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("group_mismatch", "supported", [4])
    assert "mesh_dp" in verdict.sentence and "mesh_tp" in verdict.sentence


def stage(rank: int, norm_over: str | None) -> list[Step]:
    """A first stage reduces three weights over its replicas, a later one two: as many calls as it has weights."""
    replicas, tied = f"dp{rank % 3}", "tied"
    weights = ["embed"] if rank % 3 == 0 else []
    steps: list[Step] = [
        Call(replicas, "all_reduce", 1024 if weights and n == 0 else 64, "optimize.py:31")
        for n in range(2 + len(weights))
    ]
    if norm_over is not None:
        group = tied + str(rank // 3) if rank % 3 != 1 else norm_over
        steps.append(Call(group, "all_reduce", 1, "optimize.py:36"))
    return [*steps, Call(WORLD, "broadcast", 1, "words.py:22")]


def test_a_group_that_is_not_there_is_the_whole_job() -> None:
    groups = {"tied0": [0, 2], "tied1": [3, 5], "dp0": [0, 3], "dp1": [1, 4], "dp2": [2, 5]}
    programs = {rank: [*loop(stage(rank, None), 6), *loop(stage(rank, WORLD), 1)] for rank in range(6)}
    descs = {name: name.rstrip("0123456789") for name in groups}
    verdict = best(case_of(Job({WORLD: list(range(6)), **groups}, programs, descs=descs)))
    assert (verdict.cause, blamed(verdict)) == ("group_mismatch", [1, 4])
    assert verdict.divergence is not None and verdict.divergence.seq == 7


def test_two_groups_that_are_both_whole_leave_open_which_was_meant() -> None:
    groups = {"pair": [0, 2], "tp0": [0, 1, 2], "tp1": [3, 4, 5]}

    def day(rank: int, *, late: bool) -> list[Step]:
        extra = [Call("pair" if rank in (0, 2) else WORLD, "all_reduce", 2, "train.py:21")] if late else []
        own = Call(f"tp{rank // 3}", "all_reduce", 64, "train.py:19")
        return [own, *extra, Call(WORLD, "all_gather", 1, "train.py:22")]

    programs = {rank: [*loop(day(rank, late=False), 4), *day(rank, late=True)] for rank in range(6)}
    verdict = best(case_of(Job({WORLD: list(range(6)), **groups}, programs, backend="gloo")))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("group_mismatch", "hypothesis", [])
    assert verdict.suspects and "the calls do not tell" in verdict.sentence
