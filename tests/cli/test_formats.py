"""`raf diagnose --format ...`: each format at the keyboard, and files named as they are in the reader's tree."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as xml

import pytest
from support.cli.raf_runs import Raf

from rankandfile.cli.formats import in_tree, repository

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("format", "begins"),
    [
        ("sarif", "{"),
        ("github", "::error "),
        ("markdown", "## "),
        ("junit", "<testsuites "),
    ],
)
def test_each_format_is_all_that_is_printed(raf: Raf, other_op: Path, format: str, begins: str) -> None:
    done = raf("diagnose", other_op, "--format", format)
    assert done.status == 1
    assert done.out.startswith(begins)
    if format == "sarif":
        assert json.loads(done.out)["version"] == "2.1.0"
    if format == "junit":
        assert xml.fromstring(done.out).get("failures") == "1"


def test_a_healthy_job_passes(raf: Raf, healthy: Path) -> None:
    done = raf("diagnose", healthy, "--format", "junit")
    assert done.status == 0
    assert xml.fromstring(done.out).get("failures") == "0"


def test_files_are_named_as_they_are_where_one_stands(
    raf: Raf, other_op: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = json.loads(raf("diagnose", other_op, "--format", "json").out)
    place = answer["verdicts"][0]["location"]
    name = Path(place["file"]).name
    (tmp_path / "src" / "job").mkdir(parents=True)
    (tmp_path / "src" / "job" / name).touch()
    monkeypatch.chdir(tmp_path / "src" / "job")
    assert raf("diagnose", other_op, "--format", "github").out.startswith(
        f"::error file={name},line={place['line']},"
    )


def test_the_longest_tail_of_a_path_wins_and_none_leads_out_of_the_tree(tmp_path: Path) -> None:
    for path in ("train.py", "job/train.py"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).touch()
    find = in_tree(tmp_path / "job")
    assert in_tree(tmp_path)("/workspace/job/train.py") == "job/train.py"
    assert find("C:\\workspace\\job\\train.py") == "train.py"
    assert find("/workspace/../train.py") is None
    assert find("/elsewhere/other.py") is None
    assert find("x" * 5000) is None


def test_a_file_is_named_from_the_top_of_the_repository_by_the_source_that_it_was_read_from(
    tmp_path: Path,
) -> None:
    """Whatever folder one stands in; files of installed packages are none of the repository's."""
    (tmp_path / ".git").mkdir()
    for path in ("train/src/main.py", "eval/src/main.py", "train/src/data.py", "lib/only.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    assert repository(tmp_path / "train" / "src") == tmp_path
    find = in_tree(tmp_path, [tmp_path / "train" / "src"])
    assert find("main.py") == find("/workspace/main.py") == "train/src/main.py"
    anywhere = in_tree(tmp_path)
    assert anywhere("/workspace/src/main.py") is None  # it may be either
    assert anywhere("/workspace/eval/src/main.py") == "eval/src/main.py"
    assert anywhere("/workspace/only.py") == "lib/only.py"
    assert anywhere("/usr/lib/python3/site-packages/other/only.py") is None


def test_both_ways_of_naming_a_file_lead_to_the_same_one(tmp_path: Path) -> None:
    """The source names `main.py` from its own top, the process what it ran; in the tree there are two of that name."""
    for path in ("train/main.py", "eval/main.py"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).touch()
    find = in_tree(tmp_path, [], ["/workspace/train/main.py"])
    assert find("main.py") == find("/workspace/train/main.py") == "train/main.py"
    assert in_tree(tmp_path)("main.py") is None
