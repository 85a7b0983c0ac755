"""Two files of one name: each is told by its path and its content, and helpers of elsewhere are read where they ran."""

from __future__ import annotations

import hashlib

import pytest
from support.source.toy_runs import tree

from rankandfile.model.sources import SourceFile
from rankandfile.source.files.recorded import as_it_ran
from rankandfile.source.lines.call_paths import Frame
from rankandfile.source.program.modules import Program
from rankandfile.source.program.places import SourcePlaces

OWN = b"from helper import usable\n"


def kept(path: str, data: bytes) -> SourceFile:
    return SourceFile(path, hashlib.sha256(data).hexdigest(), data)


def test_a_frameworks_file_does_not_take_the_place_of_the_users() -> None:
    found = as_it_ran(
        tree({"trainer.py": OWN}),
        [
            kept("/venv/lib/python3.11/site-packages/transformers/trainer.py", b"class Trainer: ...\n"),
            kept("/job/trainer.py", OWN),
        ],
    )
    assert found is not None
    assert found.data("trainer.py") == OWN
    assert found.identified["/job/trainer.py"] == "trainer.py"
    assert not found.notes


def test_of_two_changed_files_the_nearer_one_is_the_one_of_the_tree() -> None:
    sources = [kept("/job/pkg/utils.py", b"a = 1\n"), kept("/other/utils.py", b"b = 1\n")]
    found = as_it_ran(tree({"pkg/utils.py": b"a = 2\n"}), sources)
    assert found is not None
    assert found.data("pkg/utils.py") == b"a = 1\n"
    assert found.data(found.identified["/other/utils.py"]) == b"b = 1\n"


def test_a_helper_from_elsewhere_is_read_beside_the_given_tree() -> None:
    found = as_it_ran(
        tree({"trainer.py": OWN}), [kept("/job/trainer.py", OWN), kept("/lib/helper.py", b"x = 1\n")]
    )
    assert found is not None
    assert found.data("helper.py") == b"x = 1\n"


WATCH = """
def watched(step):
    loss = step()
    return loss
"""


@pytest.mark.parametrize("first", ["the library's", "the program's"])
def test_a_librarys_file_of_the_same_name_says_nothing_of_the_programs(first: str) -> None:
    """What is no line of the program's file ran in another one, of whose folder nothing is in the tree."""
    files = tree({"watch.py": WATCH, "train.py": "import watch\nwatch.watched(print)\n"})
    own = [Frame("watched", "/job/src/watch.py", 3), Frame("<module>", "/job/src/train.py", 2)]
    library = Frame("serve", "/opt/tools/lab/watch.py", 162)
    places = SourcePlaces(files, Program(files))
    places.compare({frame: set() for frame in ([library, *own] if first == "the library's" else own)})
    assert places.find(library) is None
    found = places.find(own[0])
    assert found is not None and found.known and not places.doubts


def test_another_line_of_a_file_in_a_folder_of_the_program_raises_a_doubt() -> None:
    files = tree({"watch.py": WATCH, "train.py": "import watch\nwatch.watched(print)\n"})
    places = SourcePlaces(files, Program(files))
    places.compare({Frame("watched", f"/job{n}/src/watch.py", 3): set() for n in (1, 2)})
    assert places.find(Frame("watched", "/job2/src/watch.py", 162)) is not None
    assert places.doubts
