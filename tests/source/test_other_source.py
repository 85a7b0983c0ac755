"""A tree that is not what ran: a line moved, and nothing is said of it but that."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.places import EARLY_STOP
from support.source.toy_runs import locate, tree

from rankandfile.evidence.load import load
from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Diagnosis
from rankandfile.reason import diagnose
from rankandfile.source.files.tree import open_tree
from rankandfile.source.lines.call_paths import Frame
from rankandfile.source.program.modules import Program
from rankandfile.source.program.places import SourcePlaces


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


PROGRAM = """
import functools

def work(x):
    return x

def other(x):
    return x

def items():
    yield work(1)

class Layer:
    def __call__(self, x):
        return x

def main(layer, pairs):
    work(0)
    run = work
    run(1)  # alias
    some = items()
    items()
    for x in some:  # generator
        pass
    first, second = some  # unpacked
    half = functools.partial(work, 1)
    half()  # partial
    layer(1)  # called object
    layer.value  # property
    with layer:  # entered
        pass
    [x for x in some]  # comprehension
    @functools.cache  # decorator
    def inner():
        return other(1)
    if layer and pairs:  # asked whether it is true
        pass
    other(2)  # other
"""


def _doubts(mark: str, called: str) -> dict[str, str]:
    program = Program(tree({"main.py": PROGRAM}))
    places = SourcePlaces(tree({"main.py": PROGRAM}), program)
    (line,) = [n for n, text in enumerate(PROGRAM.splitlines(), 1) if text.endswith(f"# {mark}")]
    frame = Frame("main", "/job/main.py", line)
    places.compare({frame: {Frame(called, "/job/main.py", 1)}})
    return places.doubts


@pytest.mark.parametrize(
    ("mark", "called"),
    [
        ("alias", "work"),
        ("generator", "items"),
        ("unpacked", "items"),
        ("partial", "work"),
        ("called object", "work"),
        ("property", "work"),
        ("entered", "work"),
        ("comprehension", "items"),
        ("decorator", "work"),
        ("asked whether it is true", "work"),
    ],
)
def test_what_runs_another_function_than_it_names_is_no_change(mark: str, called: str) -> None:
    assert not _doubts(mark, called)


def test_a_call_of_another_function_by_its_own_name_is_one() -> None:
    assert "called work, which is called on line" in _doubts("other", "work")["main.py"]
