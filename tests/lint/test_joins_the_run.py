"""What the linter says of code that ran: beside the answer, and beside what is told of a running job."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.capture.waiting import until

from rankandfile.cli.linting.flagged_sites import FlaggedSites, source_of
from rankandfile.model.diagnosis import FlaggedBefore
from rankandfile.render.words import flagged_text
from rankandfile.source.files.tree import open_tree
from rankandfile.source.lint.before import flagged_before
from rankandfile.source.program.modules import Program

TRAIN = """import torch.distributed as dist


def log(loss):
    if dist.get_rank() == 0:
        dist.all_reduce(loss)


def save(loss):
    if loss is not None:
        dist.barrier()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(TRAIN, encoding="utf-8")
    return tmp_path


def test_only_the_line_at_which_ranks_parted_counts(folder: Path) -> None:
    program = Program(open_tree([folder]))
    found = flagged_before(program, [("train.py", 5)])
    assert found is not None
    assert (found.rule, found.severity, found.line) == ("rank-guarded-collective", "error", 5)
    for lines in ([], [("train.py", 6)], [("train.py", 10)], [("other.py", 5)]):
        assert flagged_before(program, lines) is None


def test_what_somebody_has_looked_at_is_not_said(folder: Path) -> None:
    text = TRAIN.replace("== 0:", "== 0:  # raf: ok")
    (folder / "train.py").write_text(text, encoding="utf-8")
    assert flagged_before(Program(open_tree([folder])), [("train.py", 5)]) is None


def test_it_is_a_line_of_its_own() -> None:
    flagged = FlaggedBefore(rule="a-rule", severity="warning", file="train.py", line=5, message="some ranks")
    assert flagged_text(flagged) == "raf lint flags train.py:5 before it is run: warning[a-rule]"


def test_a_place_that_is_told_brings_what_is_flagged_there(folder: Path) -> None:
    said: list[str] = []
    sites = FlaggedSites(folder, said.append)
    try:
        sites.say("rank 0 calls all_reduce at train.py:6 in log()")
        until(lambda: sites._linter.poll() is not None)
        sites.say("nothing has moved")
        sites.say("rank 0 calls all_reduce at train.py:6 in log(); rank 1 calls barrier at train.py:11")
        sites.say("rank 0 is still at train.py:6")
    finally:
        sites.finish()
    told = [line for line in said if "raf lint" in line]
    assert len(told) == 1 and "train.py:5, which is on the way to this: error[rank-guarded-coll" in told[0]
    assert len(said) - len(told) == 4


def test_the_program_of_a_command_is_found(folder: Path) -> None:
    train = folder / "train.py"
    assert source_of(["torchrun", "--nproc-per-node", "2", str(train), "--lr", "3"]) == folder
    assert source_of(["python", "-m", "train"]) == Path()
