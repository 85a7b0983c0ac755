"""Stages of a pipeline that made no call together before: from the line that both came from, each went its own way."""

from __future__ import annotations

import msgspec
import polars as pl
from support.source.toy_runs import case_of, diagnosis_of, locate, place, play, tree, verdict_of

from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Verdict, Wait

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


def _in_groups(case: Case) -> Case:
    """Each rank has groups of its own, but for the one in which they meet."""
    rows = case.calls.to_dicts()
    made: dict[int, int] = {}
    for row in rows:
        row["group"] = group = GROUPS[row["op"]][row["rank"]]
        row["seq"] = made[group] = made.get(group, 0) + 1
    return msgspec.structs.replace(case, calls=pl.DataFrame(rows, schema=case.calls.schema))


def test_a_loop_over_what_one_stage_has_and_another_has_not_is_the_line() -> None:
    verdict, marked = report()
    assert place(verdict.location) == marked
    assert "rank 0 went another way than rank 1" in verdict.sentence.lower() and not verdict.culprits


def test_who_is_in_another_round_is_not_held_against_the_one_that_waits() -> None:
    assert report(more=1)[0].location is None
