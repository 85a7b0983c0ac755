"""Source trees: which file a frame's path means, and what a tree never does."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.source.toy_runs import tree

from rankandfile.source.files.git import NoSuchCommit, refusal
from rankandfile.source.files.git import git as safe_git
from rankandfile.source.files.text import MAX_BYTES, decode, without_comment
from rankandfile.source.files.tree import SourceTree, open_tree
from rankandfile.source.lines.call_paths import Frame
from rankandfile.source.program.modules import Program
from rankandfile.source.program.places import SourcePlaces

STEP = "def step(n):\n    reduce(n)\n\n\ndef other(n):\n    reduce(n)\n"


def find(source: SourceTree, file: str, line: int = 2, function: str = "step") -> str | None:
    place = SourcePlaces(source, Program(source)).find(Frame(function, file, line))
    return None if place is None or place.doubt else place.path


@pytest.mark.parametrize(
    "file",
    [
        "/workspace/job/pkg/train.py",
        "/usr/lib/python3.11/site-packages/pkg/train.py",
        r"C:\jobs\run 7\pkg\train.py",
        "/opt/app.zip/pkg/train.py",
        "pkg/train.py",
        "./pkg/train.py",
        "//pkg//train.py",
    ],
)
def test_a_frame_is_mapped_by_how_its_path_ends(file: str) -> None:
    source = tree({"pkg/train.py": STEP, "pkg/data.py": STEP, "elsewhere/train.py": "x = 1\n"})
    assert find(source, file) == "pkg/train.py"


def test_a_renamed_root_and_a_deeper_tree_are_no_obstacle() -> None:
    assert find(tree({"src/v2/pkg/train.py": STEP}), "/workspace/pkg/train.py") == "src/v2/pkg/train.py"


def test_of_two_files_the_longer_common_end_wins() -> None:
    source = tree({"a/loop/train.py": STEP, "b/loop/train.py": STEP})
    assert find(source, "/x/b/loop/train.py") == "b/loop/train.py"


def test_two_files_that_could_both_be_it_stay_two() -> None:
    source = tree({"a/train.py": STEP, "b/train.py": STEP})
    places = SourcePlaces(source, Program(source))
    assert places.find(Frame("step", "/x/train.py", 2)) is None
    assert places.ambiguous == {"/x/train.py": ["b/train.py", "a/train.py"]}


def test_the_function_and_line_decide_between_two() -> None:
    source = tree({"a/train.py": "\n\n" + STEP, "b/train.py": STEP})
    assert find(source, "/x/train.py", 2) == "b/train.py"


def test_a_file_of_the_same_name_in_another_package_is_not_taken() -> None:
    """The library's `trainer.py` is not the job's, although the job has one too."""
    source = tree({"trainer.py": "def fit():\n    go()\n"})
    assert find(source, "/usr/lib/python3/site-packages/transformers/trainer.py", 2, "inner_loop") is None


@pytest.mark.parametrize("file", ["<stdin>", "<frozen importlib._bootstrap>", "", "/", "\\", ".."])
def test_what_is_no_file_is_none(file: str) -> None:
    assert find(tree({"train.py": STEP}), file) is None


@pytest.mark.parametrize(
    ("line", "function", "doubt"),
    [
        (99, "step", "it has 6 lines"),
        (6, "step", "not in step"),
        (2, "gone", "which it does not have"),
        (3, "<module>", "is empty"),
    ],
)
def test_a_line_that_makes_no_sense_is_told(line: int, function: str, doubt: str) -> None:
    source = tree({"train.py": STEP})
    place = SourcePlaces(source, Program(source)).find(Frame(function, "/x/train.py", line))
    assert place is not None and place.doubt is not None and doubt in place.doubt


@pytest.mark.parametrize(
    ("line", "text"),
    [(2, "    # reduce(n)"), (2, '    """reduce(n)"""'), (2, "    pass")],
    ids=["comment", "docstring", "pass"],
)
def test_a_line_on_which_nothing_can_be_called_is_doubted(line: int, text: str) -> None:
    source = tree({"train.py": f"def step(n):\n{text}\n    reduce(n)\n"})
    place = SourcePlaces(source, Program(source)).find(Frame("step", "train.py", line))
    assert place is not None and place.doubt


def test_calls_over_several_lines_decorators_and_loops_make_sense() -> None:
    call = "    reduce(\n        n,\n        op=MAX,\n    )\n"
    text = f"@wraps(\n    f,\n)\ndef step(n):\n{call}    for x in loader:\n        x\n"
    source = tree({"train.py": text})
    for line in (1, 5, 6, 7, 9):
        assert find(source, "train.py", line) == "train.py"


def test_symbolic_links_out_of_the_tree_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("token = 1\n")
    root = tmp_path / "src"
    (root / "inside").mkdir(parents=True)
    (root / "inside" / "real.py").write_text("x = 1\n")
    (root / "alias.py").symlink_to(root / "inside" / "real.py")
    (root / "out.py").symlink_to(tmp_path / "secret.py")
    (root / "all").symlink_to(tmp_path)
    source = open_tree([root])
    assert source.read("inside/real.py") == source.read("alias.py") == "x = 1\n"
    assert source.read("out.py") is None
    assert not [path for path in source.paths() if path.startswith("all/")]
    assert source.read("../secret.py") is None


def test_pipes_and_huge_files_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "huge.py").write_bytes(b"#" * (MAX_BYTES + 1))
    (tmp_path / "folder.py").mkdir()
    source = open_tree([tmp_path])
    assert [source.read(path) for path in ("pipe.py", "huge.py", "folder.py")] == [None] * 3


def test_environments_inside_the_tree_are_passed_by(tmp_path: Path) -> None:
    (tmp_path / "venv" / "lib").mkdir(parents=True)
    (tmp_path / "venv" / "pyvenv.cfg").write_text("")
    (tmp_path / "venv" / "lib" / "foreign.py").write_text("")
    (tmp_path / "own.py").write_text("")
    assert list(open_tree([tmp_path]).paths()) == ["own.py"]


def test_a_wheel_is_a_tree(tmp_path: Path) -> None:
    wheel = tmp_path / "job-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("pkg/train.py", STEP)
        archive.writestr("../evil.py", STEP)
        archive.writestr("/abs.py", STEP)
        archive.writestr("pkg/bomb.py", "#" * (MAX_BYTES + 1))
    source = open_tree([wheel])
    assert find(source, "/x/site-packages/pkg/train.py") == "pkg/train.py"
    assert source.read("pkg/bomb.py") is None
    assert sorted(source.paths()) == ["pkg/bomb.py", "pkg/train.py"]


def test_what_is_no_archive_is_an_empty_tree(tmp_path: Path) -> None:
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 nothing")
    assert list(open_tree([tmp_path / "broken.zip"]).paths()) == []


def test_two_roots_with_one_path_keep_both(tmp_path: Path) -> None:
    for name, text in (("one", "a = 1\n"), ("two", "b = 2\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.py").write_text(text)
    source = open_tree([tmp_path / "one", tmp_path / "two"])
    assert {path: source.read(path) for path in source.paths()} == {
        "train.py": "a = 1\n",
        "two/train.py": "b = 2\n",
    }


def test_files_are_read_from_a_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    folder = tmp_path / "job"
    folder.mkdir()
    (folder / "train.py").write_text("old = 1\n")
    (tmp_path / "outside.py").write_text("")
    git(tmp_path, "add", ".")
    git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one")
    (folder / "train.py").write_text("new = 1\n")
    (folder / "later.py").write_text("")
    source = open_tree([folder], "HEAD")
    assert {path: source.read(path) for path in source.paths()} == {"train.py": "old = 1\n"}


@pytest.mark.parametrize("revision", ["nowhere", "--output=x", "-x", "HEAD; touch hacked", "", "\x00"])
def test_a_revision_that_is_none_is_one_line(tmp_path: Path, revision: str) -> None:
    git(tmp_path, "init", "-q")
    with pytest.raises(NoSuchCommit):
        open_tree([tmp_path], revision)
    assert not (tmp_path / "hacked").exists() and not (tmp_path / "x").exists()


def test_what_a_repository_configures_runs_nothing_and_changes_no_answer(tmp_path: Path) -> None:
    """A program for each thing that git may start, and a form that nobody who reads the answer expects."""
    folder, ran = tmp_path / "job", tmp_path / "ran"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "train.py").write_text("old = 1\n")
    (folder / ".gitattributes").write_text("*.py diff=evil filter=evil\n")
    git(folder, "add", "train.py")
    git(folder, "-c", "user.name=Ann", "-c", "user.email=a@b", "commit", "-qm", "one")
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n")
    program.chmod(0o755)
    plain = [safe_git(folder, *words) for words in QUESTIONS]
    for name in ("core.fsmonitor", "core.pager", "diff.external", "gpg.program", "core.alternateRefsCommand"):
        git(folder, "config", name, str(program))
    for name in ("diff.evil.textconv", "filter.evil.smudge", "filter.evil.clean", "diff.evil.command"):
        git(folder, "config", name, str(program))
    git(folder, "config", "log.showSignature", "true")
    git(folder, "config", "color.ui", "always")
    git(folder, "config", "blame.coloring", "repeatedLines")
    git(folder, "config", "blame.showEmail", "true")
    git(folder, "config", "blame.showRoot", "true")
    git(folder, "config", "core.abbrev", "40")
    assert [safe_git(folder, *words) for words in QUESTIONS] == plain
    assert open_tree([folder], "HEAD").read("train.py") == "old = 1\n"
    assert not ran.exists()
    git(folder, "config", "blame.ignoreRevsFile", "nowhere")
    assert [safe_git(folder, *words) for words in QUESTIONS] == plain


def test_a_missing_object_is_brought_by_no_program_whatever_the_version_of_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Older ones do not know `GIT_NO_LAZY_FETCH`: here it is taken from them."""
    folder, ran, git_path = tmp_path / "job", tmp_path / "ran", shutil.which("git")
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "train.py").write_text("old = 1\n")
    git(folder, "add", "train.py")
    git(folder, "-c", "user.name=Ann", "-c", "user.email=a@b", "commit", "-qm", "one")
    blob = (safe_git(folder, "rev-parse", "HEAD:train.py") or b"").decode().strip()
    (folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n")
    older = tmp_path / "older" / "git"
    older.parent.mkdir()
    older.write_text(f'#!/bin/sh\nunset GIT_NO_LAZY_FETCH\nexec {git_path} "$@"\n')
    for made in (program, older):
        made.chmod(0o755)
    for name, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::{program}",
        "protocol.ext.allow": "always",
    }.items():
        git(folder, "config", name, value)
    monkeypatch.setenv("PATH", str(older.parent), prepend=os.pathsep)
    assert safe_git(folder, "cat-file", "blob", blob) is None
    assert not ran.exists()
    subprocess.run([older, "cat-file", "blob", blob], cwd=folder, capture_output=True)
    assert ran.exists(), "it would have run"


@pytest.mark.parametrize(
    "wrong",
    (
        "[core]\n\tbare = maybe\n",
        "[core]\n\trepositoryFormatVersion = 99\n",
        "[core\n",
        "[include]\n\tpath = config\n",
        "[blame]\n\tdate = never\n[log]\n\tdate = never\n",
        "[user]\n\tname\n",
    ),
)
@pytest.mark.parametrize("linked", (False, True))
def test_git_goes_on_without_a_configuration_that_stops_it(tmp_path: Path, wrong: str, linked: bool) -> None:
    folder = tmp_path / "repository"
    (folder / "inner").mkdir(parents=True)
    git(folder, "init", "-q")
    (folder / "inner" / "train.py").write_text("old = 1\n")
    git(folder, "add", ".")
    git(folder, "-c", "user.name=Ann", "-c", "user.email=a@b", "commit", "-qm", "one")
    git(folder, "gc", "-q")
    if linked:
        git(folder, "worktree", "add", "-q", "../linked")
    inner = tmp_path / ("linked" if linked else "repository") / "inner"
    plain = [safe_git(inner, *words) for words in QUESTIONS]
    assert None not in plain
    with (folder / ".git" / "config").open("a") as config:
        config.write(wrong)
    assert [safe_git(inner, *words) for words in QUESTIONS] == plain
    assert open_tree([inner], "HEAD").read("train.py") == "old = 1\n"
    assert refusal(inner) == ""
    assert not list(Path(tempfile.gettempdir()).glob("raf-git-*"))


QUESTIONS = (
    ("blame", "--no-textconv", "--no-ignore-revs-file", "--date=short", "HEAD", "--", "train.py"),
    ("log", "--no-show-signature", "--date=short", "--format=%h %ad %an: %s", "HEAD", "--", "train.py"),
    ("rev-parse", "HEAD"),
)


def test_a_repository_that_git_refuses_is_not_called_one_without_the_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoSuchCommit, match="git cannot be run"):
        open_tree([tmp_path], "HEAD")


def test_a_folder_without_a_repository_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    with pytest.raises(NoSuchCommit):
        open_tree([tmp_path], "HEAD")


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"x = 'a'\r\ny = 1\r", "x = 'a'\ny = 1\n"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "# -*- coding: latin-1 -*-\nx = 'é'\n"),
        (
            b"#!/usr/bin/python\n# coding: cp1252\nx = '\x80'\n",
            "#!/usr/bin/python\n# coding: cp1252\nx = '€'\n",
        ),
        (b"x = '\xe9'\n", None),
        (b"# coding: no-such-codec\n", None),
        (b"# coding: hex\n00", None),
        (b"a\0b", None),
        (b"", ""),
    ],
)
def test_files_are_read_in_the_encoding_they_name(data: bytes, text: str | None) -> None:
    assert decode(data) == text


@given(st.binary(max_size=400))
def test_no_bytes_raise(data: bytes) -> None:
    source = tree({"train.py": data})
    source.read("train.py")
    find(source, "/x/train.py", 1)


@given(st.text(max_size=60), st.integers(-3, 10), st.text(max_size=10))
def test_no_frame_raises(file: str, line: int, function: str) -> None:
    find(tree({"train.py": STEP, "a/b.py": "("}), file, line, function)


@given(st.text(alphabet="#'\" \\({x:=f", max_size=30))
def test_a_comment_is_cut_and_nothing_else(line: str) -> None:
    assert line.startswith(without_comment(line))


def test_hostile_nesting_is_one_file_less() -> None:
    source = tree({"deep.py": "(" * 100_000, "chain.py": "x" + ".y" * 50_000, "train.py": STEP})
    assert find(source, "/x/train.py") == "train.py"
    assert find(source, "/x/deep.py") is None
