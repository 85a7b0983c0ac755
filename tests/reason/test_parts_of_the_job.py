"""A call on a group that a rank is no member of is none that it left out."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.reason.building import WORLD, Call, Job, Step, Stop, case_of
from support.reason.witnesses import C10D, Witnesses, best, blamed

from rankandfile.model.case import Case
from rankandfile.pipeline import Options
from rankandfile.pipeline import diagnose as conclude

_FLAG, _SUM = Call(WORLD, "all_reduce", 1, "stream.py:9"), Call(WORLD, "all_reduce", 6, "stream.py:23")
_FRONT = "front"


def rounds(rank: int, number: int) -> list[Step]:
    """Every fourth round, the front rank's sums."""
    steps: list[Step] = []
    for n in range(1, number + 1):
        steps += [_FLAG, _SUM]
        if rank < 2 and n % 4 == 0:
            steps.append(Call(_FRONT, "all_reduce", 1, "stream.py:29"))
    return steps


@pytest.mark.parametrize("lost", [(), (3,)])
@pytest.mark.parametrize("waited_s", [0.1, 700.0])
def test_of_who_has_no_part_in_a_group_nobody_says_that_it_left_out_its_calls(
    lost: tuple[int, ...], waited_s: float
) -> None:
    """Rank 2 works on its next item. Of the ranks with a dump besides, all have a part in the front."""
    programs: dict[int, list[Step]] = {
        rank: [*rounds(rank, 6), *([Stop()] if rank == 2 else [_FLAG])] for rank in range(4)
    }
    job = Job({WORLD: [0, 1, 2, 3], _FRONT: [0, 1]}, programs, backend="gloo")
    found = best(case_of(job, lost=lost, waited_s=waited_s))
    assert found.cause != "skipped_collective"
    assert blamed(found) == ([2] if waited_s > 1 else [])


SAME = [("all_reduce", C10D, 3252)]


@pytest.mark.parametrize(
    ("before", "line", "cause"),
    [
        ((5, 5), 14, "size_mismatch"),
        ((5, 5), 19, "rank_conditional"),
        ((8, 5), 14, "different_collective"),
    ],
    ids=["one line", "two lines", "a line that asked for as much before"],
)
def test_without_frames_the_stacks_tell_that_it_is_one_call(
    before: tuple[int, ...], line: int, cause: str
) -> None:
    """All sum up; of a size that none of them asked for before, and rank 2 for another one."""
    programs: dict[int, list[Step]] = {
        rank: [*(Call(WORLD, "all_reduce", size) for size in before), Call(WORLD, "all_reduce", size)]
        for rank, size in enumerate((7, 7, 8))
    }
    witnesses = Witnesses(case_of(Job({WORLD: [0, 1, 2]}, programs, backend="gloo"), frames=False))
    for rank in range(3):
        witnesses.stack(rank, [*SAME, ("over_all", "/workspace/confusion.py", line if rank == 2 else 14)])
    found = best(witnesses)
    assert found.cause == cause
    if cause == "size_mismatch":
        assert (blamed(found), found.confidence) == ([2], "supported")
        assert [other.cause for other in found.alternatives] == ["skipped_collective"]


PROGRAM = """import random

import torch
import torch.distributed as dist


def advantages(answers, pair):
    if random.Random().random() < 0.5:
        return None
    sums = torch.tensor(float(len(answers)))
    dist.all_reduce(sums{group})  # here
    return sums


def update(answers, pair, grad):
    advantages(answers, pair)
    dist.all_reduce(grad)  # there
"""


@pytest.mark.parametrize(("group", "named"), [(", group=pair", []), ("", [2])])
def test_who_stands_alone_in_a_call_for_a_part_has_been_left_alone(
    group: str, named: list[int], tmp_path: Path
) -> None:
    """Rank 2 waits for its pair, and that is one of those that are elsewhere: by stacks alone nobody tells which."""
    program = PROGRAM.format(group=group)
    (tmp_path / "a.py").write_text(program)
    here, there = (
        next(n for n, text in enumerate(program.splitlines(), 1) if text.endswith(mark))
        for mark in ("# here", "# there")
    )
    witnesses = Witnesses(Case(world_size=4))
    for rank in range(4):
        at = [("advantages", "/workspace/a.py", here), ("update", "/workspace/a.py", there - 1)]
        way = at if rank == 2 else [("update", "/workspace/a.py", there)]
        witnesses.stack(rank, [("all_reduce", C10D, 3252), *way])
        witnesses.gave_up(rank, 7, "ALLREDUCE")
    verdict = conclude(witnesses.case, Options(sources=(tmp_path,))).diagnosis.verdicts[0]
    assert blamed(verdict) == named
