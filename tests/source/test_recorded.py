"""The source that ran, as `raf run` kept it: used without `--src`, and to tell whether a given tree is the same."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from support.capture.watched_jobs import LAUNCHER, Watched
from support.cli.raf_runs import Raf

pytestmark = [pytest.mark.slow, pytest.mark.torch]

TRAIN = """
import torch
import torch.distributed as dist

from batches import batches, usable

dist.init_process_group("gloo")
one = torch.ones(4)
for batch in batches(dist.get_rank()):
    if not usable(batch):
        continue
    dist.all_reduce(one)
dist.broadcast(one, 0)
"""
BATCHES = """
import torch


def batches(rank):
    return torch.load(f"{rank}.pt")


def usable(batch):
    return batch.abs().sum().item() > 0
"""
CONDITION = "if not usable(batch):"


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The case folder of a hang. The program's files are gone afterwards."""
    torch = pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("recorded") / "job"
    folder.mkdir()
    for rank in range(2):
        torch.save(
            [torch.full((4,), float((step, rank) != (3, 1))) for step in range(6)], folder / f"{rank}.pt"
        )
    for name, text in {"launch.py": LAUNCHER, "train.py": TRAIN, "batches.py": BATCHES}.items():
        (folder / name).write_text(text)
    job = Watched(
        folder,
        [sys.executable, "launch.py", "train.py"],
        ["--stall", "2.5", "--on-hang", "dump-and-kill"],
    )
    try:
        job.wait()
        assert job.case.is_dir(), job.err
    finally:
        job.stop()
    assert CONDITION in " ".join(job.err.split()), job.err
    kept = folder.parent / "case"
    shutil.copytree(job.case, kept)
    shutil.rmtree(folder)
    return kept


def diagnosed(raf: Raf, evidence: Path, *words: str | Path) -> dict[str, Any]:
    done = raf("diagnose", evidence, *words, "--format", "json")
    assert done.status == 1, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def line_of(text: str) -> int:
    return text.splitlines().index("    " + CONDITION) + 1


def test_without_a_tree_the_recorders_copies_are_the_source(raf: Raf, case: Path) -> None:
    location = diagnosed(raf, case / "evidence")["verdicts"][0]["location"]
    assert (location["file"], location["condition"]) == ("train.py", CONDITION)
    assert location["condition_line"] == line_of(TRAIN)


def test_they_are_found_in_an_archive_and_shown(raf: Raf, case: Path, tmp_path: Path) -> None:
    ticket = Path(shutil.make_archive(str(tmp_path / "ticket"), "zip", case))
    done = raf("show", "source", ticket)
    assert done.status == 0, done.err
    assert CONDITION in done.out


def test_a_tree_that_changed_after_the_run_is_said_to_have(raf: Raf, case: Path, tmp_path: Path) -> None:
    """The lines told are those of what ran, and no patch is made for what did not."""
    (tmp_path / "train.py").write_text("# a new comment\n" + TRAIN)
    (tmp_path / "batches.py").write_text(BATCHES)
    found = diagnosed(raf, case / "evidence", "--src", tmp_path)
    assert found["verdicts"][0]["location"]["condition_line"] == line_of(TRAIN)
    [note] = [note for note in found["notes"] if note["file"] == "train.py"]
    assert "changed after the run" in note["what"]
    done = raf("fix", case / "evidence", "--src", tmp_path, "--apply")
    assert done.status == 2, done.out
    assert "nothing was written" in done.err
    assert (tmp_path / "train.py").read_text() == "# a new comment\n" + TRAIN


def test_the_tree_that_ran_needs_no_word(raf: Raf, case: Path, tmp_path: Path) -> None:
    """Another file of that name, which nothing but its words tells from it, does not confuse."""
    for folder, text in {"a": TRAIN, "b": TRAIN.replace("usable(batch)", "usable( batch )")}.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "train.py").write_text(text)
    found = diagnosed(raf, case / "evidence", "--src", tmp_path)
    assert found["verdicts"][0]["location"]["file"] == "a/train.py"
    assert not [note for note in found["notes"] if "train.py" in note["file"]]


def test_a_copy_that_is_not_what_its_name_says_is_not_believed(raf: Raf, case: Path, tmp_path: Path) -> None:
    shutil.copytree(case, tmp_path / "case")
    copies = list((tmp_path / "case").rglob("*.py.zlib"))
    for copy in copies:
        copy.write_bytes(b"no zlib")
    location = diagnosed(raf, tmp_path / "case" / "evidence")["verdicts"][0]["location"]
    assert copies and location["condition"] is None
