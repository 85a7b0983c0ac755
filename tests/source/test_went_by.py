"""Three ranks wait in a sum that a rank may go by, and one in a sum that comes later and that nobody can go by."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.source.toy_runs import tree

import rankandfile
from rankandfile.model.diagnosis import Verdict
from rankandfile.source.lines.found_line import Search
from rankandfile.source.lines.of_stages.gone_by import gone_by

LOSSES = """import torch.distributed as dist

class Losses:
    def __init__(self, rows):
        self.rows = rows

    def share(self, total):
        if not self.rows:
            return
        dist.all_reduce(total)
"""
TRAIN = """import torch.distributed as dist
from losses import Losses

def average(flat):
    dist.all_reduce(flat)

def main(steps, flat, group):
    losses = Losses(steps[dist.get_rank() :])
    for step in range(steps):
        losses.share(step)
        average(flat)

main(*__import__("job").parts())
"""
C10D = "torch/distributed/distributed_c10d.py"
SHARES = f"    all_reduce ({C10D}:3252)\n    Losses.share (losses.py:10)\n    main (train.py:10)\n"
AVERAGES = f"    all_reduce ({C10D}:3252)\n    average (train.py:5)\n    main (train.py:11)\n"


def left(folder: Path, stacks: list[str], losses: str = LOSSES, train: str = TRAIN) -> Path:
    """Evidence of ranks that each stood there in two looks, and the sources."""
    for name in ("src", "evidence"):
        (folder / name).mkdir()
    for name, text in {"losses": losses, "train": train}.items():
        (folder / "src" / f"{name}.py").write_text(text)
    for rank, stack in enumerate(stacks):
        told = f'Process 10{rank}: python train.py\n\nThread 10{rank} (idle): "MainThread"\n{stack}'
        told += "    <module> (train.py:13)\n"
        for look in range(2):
            path = folder / "evidence" / f"stack_rank{rank}_{look}.txt"
            path.write_text(told)
            os.utime(path, (1_700_000_000 + 10 * look,) * 2)
    return folder


def verdict(folder: Path) -> Verdict:
    return rankandfile.diagnose([folder / "evidence"], src=[folder / "src"]).verdicts[0]


def who_went_by(folder: Path) -> tuple[tuple[int, ...], list[int]] | None:
    """Whatever else the code has to say: the few, and the lines of the ways around the call of the others."""
    texts = {path.name: path.read_text() for path in (folder / "src").iterdir()}
    search = Search(rankandfile.load([folder / "evidence"]), tree(texts))
    found = gone_by(search, rankandfile.diagnose([folder / "evidence"]).verdicts[0])
    return None if found is None else (found[0], [node.lineno for _, node, _ in found[2]])


def test_who_alone_is_past_it_is_named(tmp_path: Path) -> None:
    found = verdict(left(tmp_path, [SHARES, SHARES, AVERAGES, SHARES]))
    assert ([one.rank for one in found.culprits], found.cause) == ([2], "skipped_collective"), found.sentence
    assert found.location is not None
    assert (found.location.file.rpartition("/")[2], found.location.line) == ("losses.py", 8)


def test_of_what_comes_first_in_a_round_the_few_are_in_the_next_one(tmp_path: Path) -> None:
    lines = TRAIN.splitlines(keepends=True)
    lines[9], lines[10] = lines[10], lines[9]
    share, averages = (
        SHARES.replace("train.py:10", "train.py:11"),
        AVERAGES.replace("train.py:11", "train.py:10"),
    )
    left(tmp_path, [share, share, averages, share], train="".join(lines))
    assert who_went_by(tmp_path) == ((2,), [8])


def test_who_leaves_a_loop_early_went_by_the_rest_of_it(tmp_path: Path) -> None:
    looped = LOSSES.replace(
        "        if not self.rows:\n            return\n        dist.all_reduce(total)\n",
        "        for _ in range(4):\n            dist.all_reduce(total)\n            if not self.rows:\n"
        "                break\n",
    )
    share = SHARES.replace("losses.py:10", "losses.py:9")
    left(tmp_path, [share, share, AVERAGES, share], losses=looped)
    assert who_went_by(tmp_path) == ((2,), [10])


def test_what_a_backward_pass_exchanges_is_up_to_the_graph_of_each_rank(tmp_path: Path) -> None:
    lines = TRAIN.replace("losses.share(step)", "step.backward()")
    inside = f"    all_reduce ({C10D}:3252)\n    _engine_run_backward (torch/autograd/graph.py:869)\n"
    inside += "    main (train.py:10)\n"
    assert who_went_by(left(tmp_path, [inside, inside, AVERAGES, inside], train=lines)) == ((2,), [])


MAKES = f"    _new_group_with_tag ({C10D}:4975)\n    Losses.share (losses.py:10)\n    main (train.py:10)\n"
TWINS: dict[str, tuple[list[str], dict[str, str]]] = {
    "the others make a group, and nobody knows of whom": (
        [MAKES, MAKES, AVERAGES, MAKES],
        {"losses": LOSSES.replace("dist.all_reduce(total)", "dist.new_group(total)")},
    ),
    "as many on both sides": ([SHARES, SHARES, AVERAGES, AVERAGES], {}),
    "the others may have gone by theirs": (
        [SHARES, SHARES, AVERAGES, SHARES],
        {"train": TRAIN.replace("        average(flat)", "        if open(str(step)).read(): average(flat)")},
    ),
    "the others may have come out by an error": (
        [SHARES, SHARES, AVERAGES, SHARES],
        {
            "train": TRAIN.replace(
                "    dist.all_reduce(flat)\n\n",
                "    try: dist.all_reduce(flat)\n    except OSError: pass\n",
            )
        },
    ),
    "the others may have had fewer rounds of it": (
        [SHARES, SHARES, AVERAGES.replace("train.py:11", "train.py:9"), SHARES],
        {
            "train": TRAIN.replace(
                "    for step in range(steps):\n        losses.share(step)\n        average(flat)\n",
                "    for step in losses.rows: average(flat)\n    losses.share(flat)\n\n",
            )
        },
    ),
    "they need not belong to the group of it": (
        [SHARES, SHARES, AVERAGES, SHARES],
        {
            "losses": LOSSES.replace("(self, rows):", "(self, rows, group):")
            .replace("self.rows = rows", "self.rows, self.group = rows, group")
            .replace("(total)\n", "(total, group=self.group)\n"),
            "train": TRAIN.replace("() :])", "() :], dist.new_group([0, 1, 3]))"),
        },
    ),
    "they were given no group": (
        [SHARES, SHARES, AVERAGES, SHARES],
        {"losses": LOSSES.replace("not self.rows", "self.rows is None")},
    ),
    "nobody can go by it": (
        [SHARES, SHARES, AVERAGES, SHARES],
        {"losses": LOSSES.replace("if not self.rows:", "if total == 7:")},
    ),
}


@pytest.mark.parametrize(("stacks", "texts"), TWINS.values(), ids=TWINS.keys())
def test_of_few_that_may_not_be_past_it_nobody_says_that_they_went_by(
    tmp_path: Path, stacks: list[str], texts: dict[str, str]
) -> None:
    """They may be out of line for all that: how few they are tells."""
    left(tmp_path, stacks, **texts)
    assert who_went_by(tmp_path) is None
    found = verdict(tmp_path)
    assert found.cause != "skipped_collective"
    assert [one.rank for one in found.culprits] in ([], [2])
