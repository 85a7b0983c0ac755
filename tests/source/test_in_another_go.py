"""Of stacks and logs: who stands in what a handler tries again has made calls more, and is in no later round."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.source.written_evidence import gave_up, stack

import rankandfile
from rankandfile.model.diagnosis import Verdict

RETRYING = """import functools

def retry(times):
    def deco(fn):
        @functools.wraps(fn)
        def again(*args):
            for attempt in range(times):
                try:
                    return fn(*args)
                except OSError as problem:
                    print(f"{fn.__name__}: {problem!r}, attempt {attempt} of {times}")
        return again
    return deco
"""
TRAIN = """import torch
import torch.distributed as dist
from retrying import retry

@retry(times=3)
def read(path):
    table = torch.load(path)
    dist.all_reduce(table)
    if len(table) != int(open(path + ".rows").read()):
        raise OSError("a stale part")
    return table

def train(paths, model):
    for path in paths:
        for batch in read(path).split(8):
            dist.all_reduce(model(batch))

train(*__import__("job").parts())
"""
READS = ("read (train.py:8)", "again (retrying.py:9)", "train (train.py:15)")
STEPS = ("train (train.py:16)",)
WROTE = "read: OSError('a stale part'), attempt 0 of 3\n"


def left_behind(folder: Path, said: dict[int, str]) -> Verdict:
    """Rank 2 is in `read`, the others in a step."""
    for name, text in (("src/retrying.py", RETRYING), ("src/train.py", TRAIN)):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    (folder / "evidence").mkdir()
    for rank in range(3):
        where, numel = (READS, 18) if rank == 2 else (STEPS, 97)
        (folder / f"evidence/stack_rank_{rank}.txt").write_text(
            stack(rank, "all_reduce", *where, "<module> (train.py:18)")
        )
        text = f"rank {rank} has begun with its parts\n{said.get(rank, '')}{gave_up(rank, 'all_reduce', 12, numel)}"
        (folder / f"evidence/rank_{rank}.log").write_text(text)
    return rankandfile.diagnose([folder / "evidence"], src=[folder / "src"]).verdicts[0]


def test_who_alone_wrote_what_the_handler_writes_is_in_another_go(tmp_path: Path) -> None:
    verdict = left_behind(tmp_path, {2: WROTE})
    assert [one.rank for one in verdict.culprits] == [2]
    assert verdict.location is not None
    assert (verdict.cause, Path(verdict.location.file).name, verdict.location.line) == (
        "extra_collective",
        "train.py",
        5,
    )
    assert "ran read once more on rank 2" in verdict.sentence
    assert not any("guard.uneven" in (remedy.diff or "") for remedy in verdict.remedies)


@pytest.mark.parametrize(
    "said", [{}, {0: WROTE}, dict.fromkeys(range(3), WROTE)], ids=["nobody", "another", "all"]
)
def test_a_handler_that_nothing_shows_it_came_through_is_not_named(
    tmp_path: Path, said: dict[int, str]
) -> None:
    """Its data may as well have ended earlier, and it is in the next round."""
    verdict = left_behind(tmp_path, said)
    assert "once more" not in verdict.sentence
