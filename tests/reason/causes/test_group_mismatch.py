"""`group_mismatch`: a rank made a call on another group than its peers."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.reason.building import WORLD, Call, Job, Step, case_of, loop
from support.reason.witnesses import C10D, Frame, Witnesses, best, blamed, suspected

from rankandfile.model.case import Case
from rankandfile.pipeline import Options, diagnose

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


@pytest.mark.parametrize(("alike", "named"), [(True, [3]), (False, [])], ids=["all others", "nobody else"])
def test_of_two_ranks_the_one_whose_call_all_others_make_on_groups_of_another_kind(
    alike: bool, named: list[int]
) -> None:
    """Replicas of two: nothing says which of the two sides is the usual one, but for the ranks of the other groups."""
    groups = {"tp0": [0, 1], "tp1": [2, 3], "dp0": [0, 2], "dp1": [1, 3]}

    def steps(rank: int) -> list[Step]:
        tp, dp = f"tp{rank // 2}", f"dp{rank % 2}"
        usual = loop([Call(dp, "reduce", 64, "optim.py:20"), Call(dp, "broadcast", 64, "optim.py:27")], 5)
        new = [Call(dp if rank == 3 else tp, "all_reduce", 8, "optim.py:18")] if alike or rank == 3 else []
        return [*usual, *new, Call(dp, "reduce", 64, "optim.py:20")]

    descs = {name: f"mesh_{name[:2]}" for name in groups}
    programs = {rank: steps(rank) for rank in range(4)}
    verdict = best(case_of(Job({WORLD: list(range(4)), **groups}, programs, descs=descs, backend="gloo")))
    assert (verdict.cause == "group_mismatch", blamed(verdict) if alike else []) == (alike, named)


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


@pytest.mark.parametrize(("others", "cause"), [("tp", "group_mismatch"), ("none", None)])
def test_in_a_circle_the_group_of_all_in_place_of_ones_own(others: str, cause: str | None) -> None:
    """Rank 2's group is not known to its mesh, and a call without one is on the group of all."""
    groups = {"tp0": [0, 1], "tp1": [2, 3], "dp0": [0, 2], "dp1": [1, 3]}

    def steps(rank: int) -> list[Step]:
        tp, dp = f"tp{rank // 2}", f"dp{rank % 2}"
        usual = loop([Call(tp, "all_reduce", 64, "a.py:17"), Call(dp, "all_reduce", 64, "a.py:33")], 6)
        own = WORLD if rank == 2 or others == "none" else tp
        return [*usual, Call(own, "all_reduce", 8, "a.py:30"), *usual]

    descs = {name: f"mesh_{name[:2]}" for name in groups}
    programs = {rank: steps(rank) for rank in range(4)}
    verdict = best(case_of(Job({WORLD: list(range(4)), **groups}, programs, descs=descs, backend="gloo")))
    assert (verdict.cause == "group_mismatch") is (cause is not None)
    assert cause is None or (verdict.confidence, blamed(verdict)) == ("supported", [2])


REGIONS = """\
import torch.distributed as dist

made = {}


def region(members):
    if members not in made:
        made[members] = dist.new_group(members)
    return made[members]


def refresh(members, hot):
    if len(members) > 1:
        dist.all_reduce(hot, group=region(members))


def main(hot):
    mine = (0, 1, 2) if dist.get_rank() < 3 else (3,)
    for step in range(9):
        dist.all_reduce(hot)
        refresh(mine, hot)
    dist.new_group(timeout=7200)


main([])
"""
#: As many lines, without the test.
NAMED = REGIONS.replace("if len(members) > 1:", "print(members)").replace(
    "        dist.all_reduce(hot, g", "    dist.all_reduce(hot, g"
)


def all_make_one(groups: dict[str, list[int]], *, again: bool = True) -> Case:
    """Every rank used its groups, and then came to make another one."""
    mine = {rank: [name for name, members in groups.items() if rank in members] for rank in range(4)}
    programs = {
        rank: loop([Call(name, "all_reduce", 8, "train.py:14") for name in (WORLD, *names)], 3)
        for rank, names in mine.items()
    }
    seen = Witnesses(case_of(Job({WORLD: list(range(4)), **groups}, programs, backend="gloo"), members=False))
    stack: list[Frame] = [("new_group", C10D, 5863), ("main", "/workspace/train.py", 22)]
    for rank in range(4):
        seen.stack(rank, *([stack, stack] if again else [stack]))
    return seen.case


@pytest.mark.parametrize(
    ("groups", "culprits", "suspects"),
    [
        pytest.param({"1": [2]}, [2], [], id="a group that one rank shares with nobody"),
        pytest.param({"1": [0, 1, 2]}, [], [3], id="one rank is in no group"),
        pytest.param({"1": [0, 1]}, [], [], id="as many as not"),
        pytest.param({"1": [0, 1], "2": [2, 3]}, [], [], id="each has its own"),
        pytest.param({"1": [2], "2": [0, 1, 2, 3]}, [], [], id="all have counted it"),
        pytest.param({"9f3a": [2]}, [], [], id="its members alone make it"),
        pytest.param({}, [], [], id="nothing but the group of all"),
    ],
)
def test_all_wait_where_one_group_is_made(
    groups: dict[str, list[int]], culprits: list[int], suspects: list[int]
) -> None:
    verdict = best(all_make_one(groups))
    assert (verdict.cause, blamed(verdict), suspected(verdict)) == ("group_mismatch", culprits, suspects)
    assert verdict.confidence == ("supported" if culprits else "hypothesis")
    assert [other.cause for other in verdict.alternatives] == ["init_stuck"]
    assert suspected(best(all_make_one(groups, again=False))) == [], "all jobs make groups for a moment"


@pytest.mark.parametrize(
    ("source", "line"),
    [(REGIONS, "    if len(members) > 1:"), (NAMED, "        made[members] = dist.new_group(members)")],
)
def test_the_source_tells_which_other_group_only_some_come_to_make(
    tmp_path: Path, source: str, line: str
) -> None:
    (tmp_path / "train.py").write_text(source)
    case = all_make_one({"1": [0, 1, 2]})
    (verdict,) = diagnose(case, Options(sources=(tmp_path,), hung=True)).diagnosis.verdicts
    assert verdict.location is not None
    assert verdict.location.line == source.splitlines().index(line) + 1
    assert (verdict.confidence, blamed(verdict)) == ("supported", [3])


@pytest.mark.parametrize(
    ("makers", "past", "culprits"),
    [
        pytest.param([0, 3], [1], [2], id="one goes on without them, and one of them is past it"),
        pytest.param([0, 1, 3], [], [2], id="one goes on without them"),
        pytest.param([1], [], [1], id="one makes it alone"),
        pytest.param([0, 1], [], [], id="as many as not"),
        pytest.param([0, 3], [], [], id="one of whom nothing is known"),
    ],
)
def test_some_make_a_group_while_others_wait_for_them(
    makers: list[int], past: list[int], culprits: list[int]
) -> None:
    pair = Call("1", "reduce", 512, "pairs.py:23")
    programs = {rank: loop([Call(WORLD, "all_reduce", 512, "flat.py:16")], 9) for rank in range(4)}
    for rank in (*makers, *past, *([1] if makers == [0, 3] else [])):
        programs[rank] = programs[rank][:-1] + ([pair] if rank in past else [])
    job = Job({WORLD: [0, 1, 2, 3], "1": [0, 1]}, programs, backend="gloo")
    seen = Witnesses(case_of(job, members=False))
    stack: list[Frame] = [("new_group", C10D, 5863), ("__init__", "/workspace/pairs.py", 18)]
    for rank in makers:
        seen.stack(rank, stack, stack)
    assert blamed(best(seen.case)) == culprits


def test_who_waits_in_a_group_that_was_there_before_has_made_none() -> None:
    """Rank 1 alone makes a group, and one after the other the rest waits for it: rank 0, in the group of all, too."""
    all_, pair, rest = (Call(name, "all_reduce", 7, f"{name}.py:3") for name in (WORLD, "pair", "rest"))
    programs = {
        rank: loop([all_, *([pair] if rank in (1, 2) else []), *([rest] if rank > 1 else [])], 5)
        for rank in range(8)
    }
    programs[0] = [*programs[0], all_]
    programs[2] = [*programs[2], pair]
    programs |= {rank: [*programs[rank], rest] for rank in range(3, 8)}
    groups = {WORLD: list(range(8)), "pair": [1, 2], "rest": list(range(2, 8))}
    seen = Witnesses(case_of(Job(groups, programs, backend="gloo"), members=False))
    stack: list[Frame] = [("new_group", C10D, 5863), ("main", "/workspace/pairs.py", 18)]
    seen.stack(1, stack, stack)
    assert blamed(best(seen.case)) in ([], [1])


@pytest.mark.parametrize(("size", "cause"), [(3072, "group_mismatch"), (48, "size_mismatch")])
def test_who_lacks_elsewhere_in_the_call_of_that_size_made_it_on_the_wrong_group(
    size: int, cause: str
) -> None:
    """One helper averages what all have over all, and what two of them have over those: its line is the same."""
    site = "grads.py:16"

    def step(rank: int, over: str, size: int = 3072) -> list[Step]:
        dense = [Call(WORLD, "all_reduce", 32, site), Call(WORLD, "all_reduce", 32, site)]
        return [dense[0], Call(over, "all_reduce", size, site), dense[1]]

    own = {rank: f"pair{rank % 2}" for rank in range(4)}
    programs = {rank: loop(step(rank, own[rank]), 6) for rank in range(4)}
    programs[3] = [*loop(step(3, "pair1"), 4), *step(3, WORLD, size)]
    verdict = best(case_of(Job({WORLD: list(range(4)), "pair0": [0, 2], "pair1": [1, 3]}, programs)))
    assert (verdict.cause, blamed(verdict)) == (cause, [3]), verdict.sentence
    if cause == "group_mismatch":
        assert "rank 1 waits for it in the call of that size on group pair1 [1,3]" in verdict.sentence


def test_where_no_other_rank_has_a_group_of_that_kind_its_use_tells_nothing() -> None:
    """All reduce over what they have, ranks 1 and 3 over the embedding's group too: rank 1 leaves that turn out."""
    groups = {"tp0": [0, 1], "tp1": [2, 3], "emb": [1, 3]}

    def steps(rank: int) -> list[Step]:
        tp = Call(f"tp{rank // 2}", "reduce_scatter", 64, "optim.py:20")
        sums: list[Step] = [Call(f"tp{rank // 2}", "all_reduce", 8, "norm.py:9")]
        if rank in (1, 3):
            sums += [Call("emb", "all_reduce", 8, "norm.py:9")] if rank == 3 else []
            sums.append(Call("emb", "broadcast", 64, "save.py:27"))
        return [*loop([tp], 5), *sums, *loop([tp], 2)]

    descs = {name: f"mesh_{name[:2]}" for name in groups}
    programs = {rank: steps(rank) for rank in range(4)}
    verdict = best(case_of(Job({WORLD: list(range(4)), **groups}, programs, descs=descs, backend="gloo")))
    assert (verdict.cause, blamed(verdict)) != ("group_mismatch", [3])
    assert blamed(verdict) == []
