"""Stages of a pipeline that made no call together before: from the line that both came from, each went its own way."""

from __future__ import annotations

from collections import Counter

import msgspec
import polars as pl
import pytest
from support.source.toy_runs import (
    case_of,
    cohort,
    diagnosis_of,
    locate,
    located,
    place,
    play,
    tree,
    verdict_of,
)

from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Divergence, Verdict, Wait

PROGRAM = """
import torch.distributed as dist


class Tracker:
    def __init__(self):
        self.values = {}

    def save(self, name):
        self.values[name] = 0

    def averages(self):
        for name in sorted(self.values.items()):  # <-
            dist.barrier(name)


class Stage:
    def __init__(self, tracker):
        self.tracker, self.routed = tracker, dist.get_rank() > 0

    def run(self):
        dist.broadcast(0, 0)
        if self.routed:
            self.tracker.save("balance")

    def step(self):
        self.run()
        dist.all_reduce(0)


def main():
    tracker = Tracker()
    stage = Stage(tracker)
    for step in range(1, 9):
        stage.step()
        if step % 2 == 0:
            tracker.averages()
"""
GROUPS = {"broadcast": (1, 2), "all_reduce": (3, 4), "barrier": (5, 5)}


def report(more: int = 0) -> tuple[Verdict, tuple[str, int]]:
    """Rank 1 waits in the first average, and rank 0 is `more` steps behind or ahead of the next step's first call."""
    run = play(2, train=PROGRAM)
    first = next(n for n, (op, _) in enumerate(run.calls[1]) if op == "barrier")
    run.calls[1] = run.calls[1][: first + 1]
    run.calls[0] = run.calls[0][: first + 1 + 2 * more]
    case = _in_groups(case_of(run, {rank: made[-1][1] for rank, made in run.calls.items()}))
    verdict = msgspec.structs.replace(
        verdict_of(run, 0, "undetermined"),
        culprits=[],
        divergence=None,
        victims="",
        waits=[Wait(ranks="1", waits_for="0", group="5")],
    )
    return locate(case, diagnosis_of(verdict), tree(run.files)).verdicts[0], run.marked


def _in_groups(case: Case, of: dict[str, tuple[int, int]] = GROUPS) -> Case:
    """Each rank has groups of its own, but for the one in which they meet."""
    rows = case.calls.to_dicts()
    made: Counter[tuple[int, int]] = Counter()
    for row in rows:
        row["group"] = group = of[row["op"]][row["rank"]]
        made[row["rank"], group] += 1
        row["seq"] = made[row["rank"], group]
    return msgspec.structs.replace(case, calls=pl.DataFrame(rows, schema=case.calls.schema))


def test_a_loop_over_what_one_stage_has_and_another_has_not_is_the_line() -> None:
    verdict, marked = report()
    assert place(verdict.location) == marked
    assert "rank 0 went another way than rank 1" in verdict.sentence.lower() and not verdict.culprits


def test_who_is_in_another_round_is_not_held_against_the_one_that_waits() -> None:
    assert report(more=1)[0].location is None


GRADIENTS = """
import torch.distributed as dist


class Stage:
    def __init__(self):
        self.weights, self.seen = range(GRADIENTS), []

    def reduce(self):
        for weight in self.weights:
            dist.all_reduce(weight)


def summary(seen):
    if not seen:  # <-
        return
    dist.all_gather(seen)


def main():
    stage = Stage()
    for step in range(1, 9):
        stage.reduce()
        if dist.get_rank():
            stage.seen.append(step)
        if step % 2 == 0:
            summary(stage.seen)
            dist.broadcast(step, 0)
"""


@pytest.mark.parametrize("gradients", ["3 + 2 * dist.get_rank()", "5 - 2 * dist.get_rank()", "4"])
def test_how_many_gradients_each_stage_sums_up_in_a_group_of_its_own_is_no_other_way(gradients: str) -> None:
    """In a group of both, rank 0 goes past a gather, to the broadcast behind it."""
    run = play(2, train=GRADIENTS.replace("GRADIENTS", gradients))
    ends = {
        rank: [op for op, _ in run.calls[rank]].index(op)
        for rank, op in ((1, "all_gather"), (0, "broadcast"))
    }
    run.calls = {rank: run.calls[rank][: end + 1] for rank, end in ends.items()}
    case = _in_groups(case_of(run), {"broadcast": (0, 0), "all_gather": (0, 0), "all_reduce": (1, 2)})
    rows = [
        {"group": number, "name": name, "desc": name, "members": members, "members_from": "recorded"}
        for number, (name, members) in enumerate((("pp", [0, 1]), ("dp0", [0, 2]), ("dp1", [1, 3])))
    ]
    case = msgspec.structs.replace(case, groups=pl.DataFrame(rows, schema=case.groups.schema))
    cohorts = [cohort([rank], rank, run.calls[rank], end) for rank, end in ends.items()]
    parted = Divergence(group="pp", seq=1, kind="substituted", cohorts=cohorts)
    verdict = msgspec.structs.replace(verdict_of(run, 0), divergence=parted)
    found = locate(case, diagnosis_of(verdict), tree(run.files)).verdicts[0]
    assert place(found.location) == run.marked, found.sentence


def test_in_a_group_of_both_another_number_of_gradients_is_another_way() -> None:
    run = play(2, train=GRADIENTS.replace("GRADIENTS", "3 + 2 * dist.get_rank()"))
    found = located(run, culprit=0)
    assert found.location is not None and found.location.condition == "for weight in self.weights:"
