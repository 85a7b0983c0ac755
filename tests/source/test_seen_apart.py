"""Ranks whose calls no recorder keeps, or of which nobody's call tells: by where they were seen they went two ways."""

from __future__ import annotations

import ast
from pathlib import Path

from msgspec.structs import replace
from support.source.toy_runs import case_of, cohort, play, tree, verdict_of
from support.source.written_evidence import gave_up, stack

import rankandfile
from rankandfile.model.diagnosis import Divergence, Verdict
from rankandfile.source.lines.decision import decisions
from rankandfile.source.lines.found_line import Search
from rankandfile.source.lines.of_two_cohorts.compared_ranks import divergences
from rankandfile.source.lines.of_two_cohorts.two_ways import branchings_of, sides_of
from rankandfile.source.program.modules import Function

GOSSIP = """import time
import torch.distributed as dist

def mix(vec, left, right):
    works = dist.batch_isend_irecv(pairs(vec, left, right))
    for work in works:
        work.wait()
    return vec

def run(vec, left, right, seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        vec = mix(vec, left, right)
    dist.all_reduce(vec)

run(*__import__("job").parts())
"""
STAGES = """
import torch.distributed as dist
from job import order

def forward(stage):
    if stage == 0:
        return
    dist.all_reduce(stage)

def backward(stage):
    if stage == 3:
        return
    dist.all_gather(stage)

def main():
    dist.barrier()
    stage = dist.get_rank()
    for slot in order(stage):
        if slot == "F":  # <-
            forward(stage)
        else:
            backward(stage)
"""
ORDER = """
def order(rank):
    return "BF" if rank < 2 else "FB"
"""


def told(folder: Path, text: str, stacks: dict[int, str], logs: dict[int, str]) -> Verdict:
    for name in ("src", "evidence"):
        (folder / name).mkdir()
    (folder / "src" / "train.py").write_text(text)
    for rank, shown in stacks.items():
        (folder / "evidence" / f"stack_rank_{rank}.txt").write_text(shown)
    for rank, line in logs.items():
        (folder / "evidence" / f"rank_{rank}.log").write_text(line)
    return rankandfile.diagnose([folder / "evidence"], src=[folder / "src"], hung=True).verdicts[0]


def test_the_loop_that_one_rank_left_while_the_others_wait_for_transfers_in_it(tmp_path: Path) -> None:
    head = "Process {pid}: python3 train.py\nPython v3.11.7 (/usr/bin/python3.11)\n\n"
    inside = (
        head
        + 'Thread {pid} (idle): "MainThread"\n'
        + "    mix (train.py:7)\n    run (train.py:13)\n    <module> (train.py:16)\n"
    )
    stacks = {rank: inside.format(pid=100 + rank) for rank in range(4)}
    stacks[3] = stack(3, "all_reduce", "run (train.py:14)", "<module> (train.py:16)")
    found = told(tmp_path, GOSSIP, stacks, {3: gave_up(3, "all_reduce", 1)})
    assert [culprit.rank for culprit in found.culprits] == [3], found.sentence
    assert found.location is not None and found.location.line == 12, found.sentence


def test_a_test_that_leaves_some_of_a_cohort_unexplained_comes_behind_one_that_does_not() -> None:
    """Ranks 0 and 1 are in one line: that rank 0 has nobody before it does not tell how rank 1 came there."""
    run = play(4, train=STAGES, job=ORDER)
    cohorts = [cohort([0, 1], 0, run.calls[0], 1), cohort([2, 3], 2, run.calls[2], 1)]
    parted = Divergence("0", 2, "substituted", cohorts=cohorts)
    search = Search(case_of(run), tree(run.files))
    found = next(divergences(search.paths, replace(verdict_of(run, 3), culprits=[], divergence=parted)))

    def ways(rank: int, test: ast.expr, _: Function) -> frozenset[bool]:
        first_or_last = {"stage == 0": rank == 0, "stage == 3": rank == 3}.get(ast.unparse(test))
        return frozenset({True, False} if first_or_last is None else {first_or_last})

    sides = sides_of(search, found)._replace(ways=ways)
    lines = [one.condition.line for one in decisions(search.places, branchings_of(search, found), sides)]
    assert lines[0] == run.marked[1] and len(lines) > 1
