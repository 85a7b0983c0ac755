"""`raf collect` over a real sshd on loopback: what arrives, what is taken up again, what a bad host does."""

from __future__ import annotations

import os
import shlex
import shutil
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.capture.sshd import sshd
from support.capture.stand_ins import Site
from support.cli.raf_runs import Raf
from support.places import EARLY_STOP

pytestmark = pytest.mark.slow

WRITTEN = 1_700_000_000


@pytest.fixture(scope="module")
def bin_there(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is installed there beside the system's own."""
    return tmp_path_factory.mktemp("bin")


@pytest.fixture(scope="module")
def through(tmp_path_factory: pytest.TempPathFactory, bin_there: Path) -> Iterator[str]:
    with sshd(tmp_path_factory.mktemp("sshd"), f"{bin_there}:/usr/bin:/bin") as command:
        yield command


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """Files of a node, in a folder that no shell may take apart."""
    folder = tmp_path / "the node's $(touch x); dumps"
    folder.mkdir()
    for rank in range(4):
        file = folder / f"rank_{rank}"
        file.write_bytes(bytes([rank]) * 100_000 * rank)
        os.utime(file, (WRITTEN + rank, WRITTEN + rank))
    return folder


def files(folder: Path) -> dict[str, Path]:
    found = (file for file in folder.rglob("*") if file.is_file() and ".raf-collect" not in file.parts)
    return {file.name: file for file in found}


def test_files_come_whole_with_their_times(raf: Raf, through: str, there: Path, tmp_path: Path) -> None:
    done = raf(
        "collect", "--ssh", "node-1", "--through", through, "-o", tmp_path / "job", f"{there}/rank_[0-2]"
    )
    assert (done.status, done.err) == (0, "")
    assert "1 node, 3 new files, 293 KiB" in done.out
    assert f"next:    raf diagnose {tmp_path / 'job'}" in done.out
    came = files(tmp_path / "job" / "node-1")
    assert came.keys() == {"rank_0", "rank_1", "rank_2"}
    for rank in range(3):
        assert came[f"rank_{rank}"].read_bytes() == (there / f"rank_{rank}").read_bytes()
        assert came[f"rank_{rank}"].stat().st_mtime == WRITTEN + rank
    assert not (tmp_path / "x").exists() and not (there / "x").exists()


def test_the_example_is_diagnosed_as_it_lies_there(raf: Raf, through: str, tmp_path: Path) -> None:
    evidence = EARLY_STOP / "evidence"
    at_once = raf(
        "collect", "--ssh", "node-1", "--through", through, "-o", tmp_path / "job.zip", evidence, "--diagnose"
    )
    plain = raf("diagnose", evidence)
    assert at_once.status == plain.status == 1
    assert at_once.out.partition("\n")[2].splitlines()[:4] == plain.out.splitlines()[:4]
    assert not (tmp_path / "job.zip.collecting").exists()


def test_again_only_what_is_lacking_or_has_changed_is_fetched(
    raf: Raf, through: str, there: Path, tmp_path: Path
) -> None:
    command = ["collect", "--ssh", "node-1", "--through", through, "-o", tmp_path / "job", there]
    assert "4 new files" in raf(*command).out
    came = files(tmp_path / "job")
    came["rank_3"].unlink()
    (there / "rank_1").write_text("more")
    before = came["rank_2"].stat().st_ino
    assert " KiB; 2 were there already" in raf(*command).out
    came = files(tmp_path / "job")
    assert came["rank_1"].read_text() == "more" and came["rank_3"].stat().st_size == 300_000
    assert came["rank_2"].stat().st_ino == before
    assert "0 new files, 0 bytes; 4 were there already" in raf(*command).out


def test_a_host_that_is_down_is_one_line_and_the_rest_goes_on(
    raf: Raf, through: str, there: Path, tmp_path: Path
) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("node-[1-2] slots=8\n# gone since May\ndown-1\n")
    out = tmp_path / "job.zip"
    done = raf("collect", "--hosts", hosts, "--through", through, "-o", out, there)
    assert done.status == 3
    assert done.err == "down-1: ssh: connect to host 127.0.0.1 port 1: Connection refused\n"
    assert "2 of 3 nodes, 8 new files" in done.out and "lacking: down-1" in done.out
    # Kept beside the archive, to be taken up again.
    assert out.exists() and (tmp_path / "job.zip.collecting").is_dir()
    assert (
        "8 were there already" in raf("collect", "--hosts", hosts, "--through", through, "-o", out, there).out
    )


def test_where_nothing_comes_nothing_is_written(raf: Raf, through: str, tmp_path: Path) -> None:
    done = raf("collect", "--ssh", "down-1", "--through", through, "-o", tmp_path / "job", "/etc/hostname")
    assert done.status == 2 and done.out == ""
    assert done.err.splitlines()[1] == "raf: nothing was gathered (1 node asked); nothing was written"
    assert not (tmp_path / "job").exists()


def test_a_host_without_such_a_file_says_so(raf: Raf, through: str, tmp_path: Path) -> None:
    done = raf("collect", "--ssh", "node-1", "--through", through, "-o", tmp_path / "job", "/nothing/here*")
    assert done.status == 2
    assert done.err.startswith("node-1: none of these files is there\nraf: no such file is there")


def test_a_slow_host_has_its_time_and_what_came_of_it_stays(
    raf: Raf, through: str, there: Path, tmp_path: Path, bin_there: Path
) -> None:
    """Its tar stands after the first files: those are kept, and the same command takes the rest."""
    tar, slow = shutil.which("tar"), bin_there / "tar"
    slow.write_text(
        f'#!/bin/sh\n[ $1 != --help ] || exit 0\n{tar} "$@" | {{ dd bs=1000 count=550 2>/dev/null; sleep 60; }}\n'
    )
    slow.chmod(0o755)
    command = ["collect", "--ssh", "node-1", "--through", through, "-o", tmp_path / "job", there]
    began = time.monotonic()
    done = raf(*command, "--timeout", "3")
    assert time.monotonic() - began < 30
    slow.unlink()
    assert done.status == 3
    assert done.err.startswith("node-1: no answer in 3 s (--timeout); ")
    assert "of 4 files came" in done.err
    came = files(tmp_path / "job")
    assert 0 < len(came) < 4
    assert all(file.read_bytes() == (there / name).read_bytes() for name, file in came.items())
    assert raf(*command).status == 0
    assert files(tmp_path / "job").keys() == {f"rank_{rank}" for rank in range(4)}


def test_where_raf_is_a_node_is_made_small_there(
    raf: Raf, through: str, there: Path, tmp_path: Path, bin_there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site(tmp_path / "site", monkeypatch, ["raf"])
    shutil.copy(site.folder / "bin" / "raf", bin_there / "raf")
    out = tmp_path / "job"
    command = ["collect", "--ssh", "node-1", "--through", through, "-o", out, there]
    try:
        assert raf(*command).status == 0
        assert files(out).keys() == {"condensed.case"}
        assert files(out)["condensed.case"].stat().st_size == 600_000
        assert "0 new files, 0 bytes; 4 were there already" in raf(*command).out
        # One file more: all of them are made small anew.
        (there / "rank_4").write_text("x")
        assert "1 new file" in raf(*command).out
        assert files(out)["condensed.case"].stat().st_size == 600_001
        # As they are, in place of the small ones.
        assert raf(*command, "--full").status == 0
        assert files(out).keys() == {f"rank_{rank}" for rank in range(5)}
        # What cannot be made small comes as it is.
        (there / "rank_4").write_text("not to be condensed")
        shutil.rmtree(out)
        done = raf(*command)
        assert done.status == 0 and "rank_4: cannot be condensed" in done.err
        assert files(out).keys() == {f"rank_{rank}" for rank in range(5)}
    finally:
        (bin_there / "raf").unlink()


def test_what_may_not_be_read_is_named(
    raf: Raf, through: str, there: Path, tmp_path: Path, bin_there: Path
) -> None:
    """As root reads everything, a file that goes in between stands for it."""
    tar, other = shutil.which("tar"), bin_there / "tar"
    gone = shlex.quote(str(there / "rank_2"))
    other.write_text(f'#!/bin/sh\n[ $1 != --help ] || exit 0\nrm {gone}\nexec {tar} "$@"\n')
    other.chmod(0o755)
    try:
        done = raf("collect", "--ssh", "node-1", "--through", through, "-o", tmp_path / "job", there)
    finally:
        other.unlink()
    assert done.status == 3
    assert f"node-1: not sent: {there}/rank_2 (" in done.err and "Cannot stat: No such file" in done.err
    assert files(tmp_path / "job").keys() == {"rank_0", "rank_1", "rank_3"}


def test_links_and_names_that_would_deceive_are_left(
    raf: Raf, through: str, there: Path, tmp_path: Path
) -> None:
    (there / "link").symlink_to("/etc/hostname")
    (there / f"x\nfile 1 1 {there}").mkdir(parents=True)
    (there / f"x\nfile 1 1 {there}" / "rank_9").write_text("")
    (there / "a\\b").write_text("")
    done = raf(
        "collect",
        "--ssh",
        "node-1",
        "--through",
        through,
        "-o",
        tmp_path / "job",
        there,
        f"{there}/link",
    )
    assert done.status == 0
    assert f"{there}/link: a link, which is not followed" in done.err
    assert "for the backslash in its name" in done.err
    assert files(tmp_path / "job").keys() == {f"rank_{rank}" for rank in range(4)}


def test_a_folder_that_may_not_be_read_is_told(
    raf: Raf, through: str, there: Path, tmp_path: Path, bin_there: Path
) -> None:
    """As root reads everything, another find stands for it."""
    find = bin_there / "find"
    find.write_text(
        f"#!/bin/sh\necho 'find: /x: Permission denied' >&2\nexec {shutil.which('find')} \"$@\"\n"
    )
    find.chmod(0o755)
    try:
        done = raf("collect", "--ssh", "node-1", "--through", through, "-o", tmp_path / "job", there)
    finally:
        find.unlink()
    assert done.status == 0
    assert done.err == "node-1: find: /x: Permission denied\n"


def test_what_came_before_outlives_a_day_on_which_nothing_comes(
    raf: Raf, through: str, there: Path, tmp_path: Path
) -> None:
    out = tmp_path / "job"
    assert raf("collect", "--ssh", "node-1", "--through", through, "-o", out, there).status == 0
    assert raf("collect", "--ssh", "down-1", "--through", through, "-o", out, there).status == 2
    assert len(files(out)) == 4
    assert (out / ".raf-collect" / "manifest.json").exists()


def test_an_archive_is_gone_on_with(raf: Raf, through: str, there: Path, tmp_path: Path) -> None:
    out = tmp_path / "job.case"
    command = ["collect", "--ssh", "node-1", "--through", through, "-o", out, there]
    assert "4 new files" in raf(*command).out
    (there / "rank_3").write_text("later")
    assert "1 new file, 5 bytes; 3 were there already" in raf(*command).out
    with zipfile.ZipFile(out) as zipped:
        assert any(zipped.read(name) == b"later" for name in zipped.namelist())
    # Nothing comes: the archive is as it was, and nothing lies beside it.
    before = out.read_bytes()
    assert raf("collect", "--ssh", "down-1", "--through", through, "-o", out, there).status == 2
    assert out.read_bytes() == before
    assert sorted(one.name for one in tmp_path.iterdir() if one != there) == ["job.case"]


def test_an_archive_of_another_origin_stays_as_it_is(
    raf: Raf, through: str, there: Path, tmp_path: Path
) -> None:
    out = tmp_path / "job.zip"
    with zipfile.ZipFile(out, "w") as zipped:
        zipped.writestr("../evil", "x")
    before = out.read_bytes()
    done = raf("collect", "--ssh", "node-1", "--through", through, "-o", out, there)
    assert (done.status, done.err) == (
        2,
        f"raf: {out}: is there, and raf collect has not made it; name another one\n",
    )
    assert out.read_bytes() == before
    assert sorted(one.name for one in tmp_path.iterdir() if one != there) == ["job.zip"]
