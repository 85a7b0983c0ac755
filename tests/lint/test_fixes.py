"""Changes that `raf lint` makes: proved before they are offered, and made only where that is asked for."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest
from conftest import Raf
from support.lint_pages import programs

from rankandfile.model.lint import Flagged
from rankandfile.source.lint.run import Options, lint

BAD = """import torch.distributed as dist


def log(loss):
    if dist.get_rank() == 0:
        dist.all_reduce(loss)
        print(loss)
"""
GOOD = """import torch.distributed as dist


def log(loss):
    dist.all_reduce(loss)
    if dist.get_rank() == 0:
        print(loss)
"""
TO_DECIDE = """import time
import torch.distributed as dist


def train(step, x, limit):
    while True:
        step()
        dist.all_reduce(x)
        if time.time() > limit:
            break
"""
NONE = """import torch.distributed as dist


def log(loss):
    if dist.get_rank() == 0:
        loss = loss.mean()
        dist.all_reduce(loss.grad)
        return loss
    return None
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAF_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "train").mkdir()
    (tmp_path / "train" / "log.py").write_text(BAD, encoding="utf-8")
    return tmp_path


def test_a_fix_is_shown_and_not_made(raf: Raf, here: Path) -> None:
    said = raf("lint", "train", "--show-fixes")
    assert said.status == 1
    assert (here / "train" / "log.py").read_text() == BAD
    subprocess.run(["git", "apply"], input=said.out.encode(), cwd=here, check=True)
    assert (here / "train" / "log.py").read_text() == GOOD
    assert "1 finding would be gone" in said.err


def test_a_fix_is_made_where_it_is_asked_for(raf: Raf, here: Path) -> None:
    said = raf("lint", "train", "--fix")
    assert (said.status, (here / "train" / "log.py").read_text()) == (0, GOOD)
    assert "nothing found" in said.out
    assert "written   train/log.py" in said.err
    assert raf("lint", "train", "--fix").err == ""


def test_the_story_says_whether_there_is_a_fix(raf: Raf, here: Path) -> None:
    (here / "train" / "late.py").write_text(TO_DECIDE, encoding="utf-8")
    (here / "train" / "none.py").write_text(NONE, encoding="utf-8")
    said = raf("lint", "train", "-v").out
    assert "= --fix: Call it outside of the branch" in said
    assert "= --unsafe-fixes: Decide together" in said
    assert "= to decide: " in said
    assert "= no --fix: " in said


def test_what_is_left_to_decide_is_changed_only_where_that_is_asked_for(raf: Raf, here: Path) -> None:
    late = here / "train" / "late.py"
    late.write_text(TO_DECIDE, encoding="utf-8")
    said = raf("lint", "train", "--fix")
    assert (said.status, late.read_text()) == (1, TO_DECIDE)
    assert "1 more with --unsafe-fixes" in said.err
    assert raf("lint", "train", "--fix", "--unsafe-fixes", "--plain").status == 0
    assert "def any_rank(" in late.read_text() and "rankandfile" not in late.read_text()


def test_nothing_is_changed_beyond_what_was_asked_about(raf: Raf, here: Path) -> None:
    """Neither files outside the paths, nor findings that a baseline or a comment leaves out."""
    more = here / "train" / "more.py"
    more.write_text(BAD, encoding="utf-8")
    raf("lint", "train/log.py", "--fix")
    assert more.read_text() == BAD
    raf("lint", "train", "--baseline", "known.json")
    assert raf("lint", "train", "--baseline", "known.json", "--fix").status == 0
    assert more.read_text() == BAD
    more.write_text(BAD.replace("== 0:", "== 0:  # raf: ok"), encoding="utf-8")
    assert raf("lint", "train", "--fix").status == 0
    assert "# raf: ok" in more.read_text()


def test_what_torch_would_do_is_not_written_into_programs_of_others(tmp_path: Path) -> None:
    text = BAD.replace("import torch.distributed as dist", "from mpi4py import MPI\n\ncomm = MPI.COMM_WORLD")
    text = text.replace("dist.get_rank()", "comm.Get_rank()").replace("dist.all_reduce", "comm.allreduce")
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    (found,) = lint([tmp_path], Options(changes="all")).flagged
    assert found.change is None and "torch.distributed only" in found.unchanged


def test_several_in_one_file_are_all_mended(raf: Raf, here: Path) -> None:
    twice = BAD + BAD.partition("\n\n")[2].replace("log", "tell") + "\n\n" + BAD.partition("\n\n\n")[2]
    file = here / "train" / "log.py"
    file.write_bytes(twice.replace("\n", "\r\n").encode())
    assert raf("lint", "train").out.count("error[") == 3
    assert raf("lint", "train", "--fix").status == 0
    text = file.read_bytes()
    assert text.count(b"    dist.all_reduce(loss)\r\n    if dist") == 3
    assert text.count(b"\n") == text.count(b"\r\n")


def test_what_only_one_rank_has_is_not_called_on_all(tmp_path: Path) -> None:
    text = BAD.replace("def log(loss)", "def log(load)").replace(
        "        dist", "        loss = load()\n        dist"
    )
    assert "loss = load()" in text
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    (found,) = lint([tmp_path], Options(changes="offered")).flagged
    assert found.change is None and found.unchanged


def test_whatever_is_changed_on_the_pages_is_gone_and_brings_nothing_else(tmp_path: Path) -> None:
    offered = 0
    for number, program in enumerate(programs()):
        folder = tmp_path / str(number)
        for name, text in program.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        before = lint([folder], Options(hints=True, changes="all"))
        for each in before.changed:
            ast.parse(each.after)
            Path(each.file).write_bytes(each.after)
        left = [_known(each) for each in before.flagged if each.change is None]
        assert sorted(_known(each) for each in lint([folder], Options(hints=True)).flagged) == sorted(left)
        assert all((each.change is None) == bool(each.unchanged) for each in before.flagged)
        offered += len(before.flagged) - len(left)
    assert offered > 20


def _known(flagged: Flagged) -> str:
    return flagged.fingerprint
