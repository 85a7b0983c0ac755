"""A tree that is not what ran: a line moved, and nothing is said of it but that."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.places import EARLY_STOP
from support.source.toy_runs import locate

from rankandfile.evidence.load import load
from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Diagnosis
from rankandfile.reason import diagnose
from rankandfile.source.files.tree import open_tree


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return load([EARLY_STOP / "evidence"], tmp_path_factory.mktemp("spool"), jobs=1)


@pytest.fixture(scope="module")
def diagnosis(case: Case) -> Diagnosis:
    return diagnose(case)


@pytest.mark.parametrize("lines", [1, 2, 3, 7, 40])
def test_lines_put_in_after_the_run_are_noticed(
    case: Case, diagnosis: Diagnosis, tmp_path: Path, lines: int
) -> None:
    shutil.copytree(EARLY_STOP / "src", tmp_path / "src")
    trainer = tmp_path / "src" / "trainer.py"
    first, rest = trainer.read_text().split("\n", 1)
    trainer.write_text(first + "\n" + "# put in later\n" * lines + rest)
    located = locate(case, diagnosis, open_tree([tmp_path / "src"]))
    assert located.verdicts[0].location is None
    assert any(note.file == "trainer.py" and "changed after the run" in note.what for note in located.notes)


def test_the_tree_that_ran_has_no_such_note(case: Case, diagnosis: Diagnosis) -> None:
    located = locate(case, diagnosis, open_tree([EARLY_STOP / "src"]))
    assert located.verdicts[0].location is not None
    assert not [note for note in located.notes if "changed after the run" in note.what]
