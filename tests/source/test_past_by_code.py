"""Where dumps keep no frames, the source tells that a stage in a transfer is past the call in which the others wait."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.reason.building import WORLD, Call, Job, Stop, case_of, hidden, loop
from support.reason.witnesses import Witnesses, blamed

from rankandfile.model.diagnosis import Verdict
from rankandfile.pipeline import Options, diagnose

C10D = "/venv/torch/distributed/distributed_c10d.py"
REDUCED, GAUGE = Call(WORLD, "all_reduce", 192, "x:1"), Call(WORLD, "all_reduce", 2, "x:2")

TRAIN = """
import torch.distributed as dist
from gauges import Gauges


def mean(parameters):
    dist.all_reduce(parameters)


def forward(stage, x):
    if stage.layout.last:
        return stage(x)
    dist.send(x, dst=stage.layout.after)  # send


def run(stage, batches, gauges):
    for batch in batches:
        forward(stage, batch)  # first
        mean(stage.parameters)
        gauges.report()  # report
"""
GAUGES = """
import torch.distributed as dist


class Gauges:
    def __init__(self, layout):
        self.columns = {f"load/{n}": 0.0 for n in range(layout.stage * 4, layout.stage * 4 + 4)}

    def report(self):
        for name in self.columns:
            dist.all_reduce(self.columns[name])  # due
"""


def line(text: str, remark: str) -> int:
    return next(n for n, row in enumerate(text.splitlines(), 1) if row.endswith(f"# {remark}"))


def diagnosed(
    folder: Path, train: str = TRAIN, rounds: int = 4, own_groups: bool = False, due: Call = GAUGE
) -> Verdict:
    """Ranks 0 to 2 wait in the report of the fourth round, and rank 3 sends."""
    (folder / "train.py").write_text(train)
    (folder / "gauges.py").write_text(GAUGES)
    groups = {WORLD: [0, 1, 2, 3], "d0": [0, 1, 2], "d1": [3]} if own_groups else {WORLD: [0, 1, 2, 3]}
    programs = {}
    for rank in range(4):
        reduced = REDUCED._replace(group="d1" if rank == 3 else "d0") if own_groups else REDUCED
        programs[rank] = [*loop([reduced], rounds), Stop()] if rank == 3 else [*loop([reduced], 4), due]
    job = Job(groups, programs, backend="gloo", descs={"d0": "data", "d1": "data"})
    told = Witnesses(hidden(case_of(job, frames=False)))
    for rank in range(3):
        waits = [("all_reduce", C10D, 3252), ("report", "/workspace/gauges.py", line(GAUGES, "due"))]
        told.stack(rank, [*waits, ("run", "/workspace/train.py", line(train, "report"))])
    sends = [("send", C10D, 2350), ("forward", "/workspace/train.py", line(train, "send"))]
    told.stack(3, [*sends, ("run", "/workspace/train.py", line(train, "first"))])
    return diagnose(told.case, Options(sources=(folder,))).diagnosis.verdicts[0]


@pytest.mark.parametrize("own_groups", [False, True])
def test_who_made_what_is_made_between_and_stands_before_it_has_come_round(
    tmp_path: Path, own_groups: bool
) -> None:
    verdict = diagnosed(tmp_path, own_groups=own_groups)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("skipped_collective", "supported", [3])
    assert "was made from train.py:19 in run, as by the others" in verdict.sentence
    assert verdict.location is not None
    assert (verdict.location.file, verdict.location.line) == ("gauges.py", line(GAUGES, "due") - 1)


def test_who_has_made_it_once_less_may_be_on_its_way(tmp_path: Path) -> None:
    assert blamed(diagnosed(tmp_path, rounds=3, own_groups=True)) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # It may be from before the transfer, or from behind the report.
        ("    forward(stage, batch)", "    mean(batch)\n        forward(stage, batch)"),
        ("gauges.report()  # report", "gauges.report()  # report\n        mean(stage.parameters)"),
        # Or from what nobody knows.
        ("        return stage(x)", "        mean(x)"),
        # And not made in each round.
        ("        mean(stage", "        if batch.last:\n            mean(stage"),
    ],
)
def test_where_else_it_may_come_from_tells_nothing(tmp_path: Path, before: str, after: str) -> None:
    assert before in TRAIN
    assert "was made from" not in diagnosed(tmp_path, TRAIN.replace(before, after, 1)).sentence


def test_a_call_that_a_round_may_go_without_tells_of_no_round(tmp_path: Path) -> None:
    """Rank 3 is in the transfer of a round in which nobody makes it."""
    for before, after in (
        ("    dist.all_reduce(parameters)", "    if parameters.due():\n        dist.all_reduce(parameters)"),
        (
            "    dist.all_reduce(parameters)",
            "    if not parameters.due():\n        return\n    dist.all_reduce(parameters)",
        ),
        ("        mean(stage", "        with stage.clock:\n            batch.last and mean(stage"),
    ):
        assert before in TRAIN
        assert blamed(diagnosed(tmp_path, TRAIN.replace(before, after, 1))) == []


def test_what_no_rank_of_the_job_leaves_out_is_made_each_time(tmp_path: Path) -> None:
    guarded = TRAIN.replace(
        "    dist.all_reduce", "    if dist.get_world_size() == 1:\n        return\n    dist.all_reduce"
    )
    assert blamed(diagnosed(tmp_path, guarded)) == [3]


def test_the_call_itself_of_a_round_before_is_not_what_is_made_between(tmp_path: Path) -> None:
    assert "was made from" not in diagnosed(tmp_path, due=REDUCED).sentence
