"""Two files of one name: each is told by its path and its content, and helpers of elsewhere are read where they ran."""

from __future__ import annotations

import hashlib

from support.source.toy_runs import tree

from rankandfile.model.sources import SourceFile
from rankandfile.source.files.recorded import as_it_ran

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
