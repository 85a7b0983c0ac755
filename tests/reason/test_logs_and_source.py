"""Watchdogs' lines and the program's source: what all wait in, and what the source lets each rank decide for itself."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from support.reason import no_dumps
from support.reason.building import WORLD, Job, case_of
from support.reason.data_parallel import all_reduce
from support.reason.witnesses import C10D, Witnesses, blamed

from rankandfile.model.diagnosis import Verdict
from rankandfile.pipeline import Options
from rankandfile.pipeline import diagnose as conclude
from rankandfile.reason import gather


def asked(witnesses: Witnesses, folder: Path, program: str, at: dict[int, str]) -> Verdict:
    """With the program, and each rank in an all_reduce on the line that has the given words."""
    lines = dedent(program).splitlines()
    (folder / "train.py").write_text("\n".join(lines))
    for rank, words in at.items():
        number = next(n for n, line in enumerate(lines, 1) if words in line)
        function = (
            next(line for line in reversed(lines[:number]) if "def " in line).split("def ")[1].split("(")[0]
        )
        witnesses.stack(rank, [("all_reduce", C10D, 3252), (function, "/workspace/train.py", number)])
    return conclude(witnesses.case, Options(sources=(folder,))).diagnosis.verdicts[0]


#: Four ranks in a square: each has a partner along its row, and one along its column.
MESH = """
    import random
    import torch.distributed as dist

    class Grid:
        def __init__(self, row, column):
            self.row, self.column = row, column

        def flush(self, grads):
            for name in {order}:
                group = self.row if name == "row" else self.column
                dist.all_reduce(grads[name], group=group)
"""


def crosswise() -> Witnesses:
    witnesses = no_dumps.nothing(4)
    for rank, group in enumerate(("row0", "column1", "column0", "row1")):
        witnesses.gave_up(rank, 13, group=group)
    return witnesses


@pytest.mark.parametrize(
    ("order", "cause", "named"),
    [
        ("random.sample(list(grads), 2)", "order_inversion", [0, 1, 2, 3]),
        ('("row", "column")', "undetermined", []),
    ],
)
def test_nobody_shares_a_call_with_anybody(tmp_path: Path, order: str, cause: str, named: list[int]) -> None:
    program = MESH.replace("{order}", order)
    verdict = asked(crosswise(), tmp_path, program, dict.fromkeys(range(4), "dist.all_reduce"))
    assert (verdict.cause, blamed(verdict)) == (cause, named)
    assert "wait for each other in a circle" in verdict.sentence
    assert "network" not in verdict.sentence


TURNED = """
    import torch.distributed as dist

    class Solver:
        def along_rows(self):
            dist.all_reduce(self.edge, group=self.row)  # row

        def along_columns(self):
            dist.all_reduce(self.edge, group=self.column)  # column

        def sweep(self):
            if dist.get_rank() % 3 == 0:
                self.along_rows()  # first of a red one
                self.along_columns()
            else:
                self.along_columns()  # first of a black one
                self.along_rows()
"""


def test_two_arms_with_the_same_calls_in_another_order(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(dedent(TURNED))
    lines = dedent(TURNED).splitlines()
    witnesses = crosswise()
    for rank in range(4):
        inner, outer = ("# row", "red one") if rank in (0, 3) else ("# column", "black one")
        numbers = [next(n for n, line in enumerate(lines, 1) if words in line) for words in (inner, outer)]
        function = "along_rows" if rank in (0, 3) else "along_columns"
        witnesses.stack(
            rank,
            [
                ("all_reduce", C10D, 3252),
                (function, "/workspace/train.py", numbers[0]),
                ("sweep", "/workspace/train.py", numbers[1]),
            ],
        )
    verdict = conclude(witnesses.case, Options(sources=(tmp_path,))).diagnosis.verdicts[0]
    assert (verdict.cause, blamed(verdict)) == ("order_inversion", [0, 1, 2, 3])
    assert verdict.location is not None
    assert verdict.location.condition == "if dist.get_rank() % 3 == 0:"


def test_two_of_one_group_are_in_no_circle() -> None:
    """Another number of the same group is no call of another group."""
    witnesses = no_dumps.nothing(2).gave_up(0, 18, group="default_pg").gave_up(1, 17, group="default_pg")
    verdict = conclude(witnesses.case, Options()).diagnosis.verdicts[0]
    assert "circle" not in verdict.sentence
    assert "Rank 0 is past it" in verdict.sentence
    assert [one.cause for one in verdict.alternatives] == ["different_collective", "dtype_mismatch"]


COUNTED = """
    import torch
    import torch.distributed as dist

    def total(scores):
        box = torch.tensor([s.value for s in scores]{type})
        dist.all_reduce(box)
        return box
"""


@pytest.mark.parametrize(
    ("kind", "cause"), [("", "dtype_mismatch"), (", dtype=torch.float64", "undetermined")]
)
def test_a_tensor_of_the_type_of_whatever_value_there_is(tmp_path: Path, kind: str, cause: str) -> None:
    program = COUNTED.replace("{type}", kind)
    verdict = asked(no_dumps.all_gave_up(9), tmp_path, program, dict.fromkeys(range(4), "dist.all_reduce"))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == (cause, "hypothesis", [])
    assert verdict.location is None or "torch.tensor" in (verdict.location.condition or "")


#: Six ranks: two pipes of three stages, and three groups of two replicas.
GRID = """
    import torch.distributed as dist

    def build(stages, replicas):
        for replica in range(replicas):
            pipe = dist.new_group([s * replicas + replica for s in range(stages)], group_desc="pipe")
        return pipe

    def report(pipe, loss):
        dist.all_reduce(loss, group=pipe)

    def take(buffer):
        dist.recv(buffer, src=dist.get_rank() - 2)

    build({stages}, 2)
"""


def pipes(folder: Path, stages: str) -> Verdict:
    witnesses = no_dumps.nothing(6)
    for rank, number in ((0, "1"), (2, "1"), (1, "2"), (3, "2")):
        witnesses.gave_up(rank, 1, group=number, group_desc="pipe")
    (folder / "train.py").write_text(dedent(GRID.replace("{stages}", stages)))
    return conclude(witnesses.case, Options(sources=(folder,))).diagnosis.verdicts[0]


def test_the_source_lists_the_members_of_a_group(tmp_path: Path) -> None:
    verdict = pipes(tmp_path, "3")
    assert "pipe [0,2,4]" in verdict.sentence and "Rank 4 left no line about it." in verdict.sentence


def test_lists_that_depend_on_what_is_not_known_are_not_told(tmp_path: Path) -> None:
    verdict = pipes(tmp_path, "int(input())")
    assert (
        "members not told" in verdict.sentence and "Ranks 4 and 5 left no line about it." in verdict.sentence
    )


def test_who_never_came_to_a_group_of_a_dump_belongs_to_it_by_the_source(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(dedent(GRID.replace("{stages}", "3")))
    came = {rank: [all_reduce(site="train.py:9", group=f"pipe{rank % 2}")] for rank in range(4)}
    groups = {"pipe0": [0, 2, 4], "pipe1": [1, 3, 5], WORLD: [*range(6)]}
    job = Job(groups, {rank: came.get(rank, []) for rank in range(6)}, descs=dict.fromkeys(groups, "pipe"))
    case = case_of(job, members=False)
    assert gather(case).membership.unsure
    facts = conclude(case, Options(sources=(tmp_path,))).facts
    members = {name: facts.membership.members[n] for n, name in enumerate(sorted(groups))}
    assert members["pipe0"] == [0, 2, 4] and members["pipe1"] == [1, 3, 5]


def test_of_a_receive_the_source_says_from_whom_it_is(tmp_path: Path) -> None:
    program = dedent(GRID.replace("{stages}", "3"))
    (tmp_path / "train.py").write_text(program)
    line = next(n for n, text in enumerate(program.splitlines(), 1) if "dist.recv" in text)
    witnesses = no_dumps.nothing(6).stack(4, [("recv", C10D, 2799), ("take", "/workspace/train.py", line)])
    stand = conclude(witnesses.case, Options(sources=(tmp_path,))).facts.hosts[4]
    assert stand.asked.awaited == 2
