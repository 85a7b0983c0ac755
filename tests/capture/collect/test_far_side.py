"""The far side: what its shell makes of a pattern, and what is taken of a far side that lies."""

from __future__ import annotations

import io
import shlex
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rankandfile.capture.collect import far_side, listing
from rankandfile.capture.collect.collect import Wishes, collect
from rankandfile.capture.collect.places import host_names
from rankandfile.capture.collect.target import Target
from rankandfile.capture.collect.visit import Came
from rankandfile.model.errors import UserError

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("shell", ["sh", "bash", "dash"])
@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("a *", ["a 1", "a 2"]),
        ("a ?", ["a 1", "a 2"]),
        ("a [2-9]", ["a 2"]),
        ("a [!2]", ["a 1"]),
        ("[x*", ["[x; touch y"]),
        ("$(touch y)*", []),
        ("`touch y`; touch y", []),
        ("'*", ["'q"]),
        ("-*", ["-n"]),
        ("a [$(touch y)]", []),
    ],
)
def test_a_pattern_is_expanded_there_and_nothing_else_in_it(
    tmp_path: Path, shell: str, pattern: str, matches: list[str]
) -> None:
    for name in ("a 1", "a 2", "[x; touch y", "'q", "-n"):
        (tmp_path / name).touch()
    text = f'set -- {far_side.quoted(pattern)}; for one; do [ ! -e "./$one" ] || printf "%s\\n" "$one"; done'
    done = subprocess.run([shell, "-c", text], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == matches
    assert not (tmp_path / "y").exists()


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_the_script_comes_through_a_login_shell_whole(tmp_path: Path, shell: str) -> None:
    """As sshd hands a command to the user's shell: as one word."""
    (tmp_path / "x").write_text("x")
    target = Target(name="n", reach=(shell, "-c"), login_shell=True, patterns=("x",), folder=str(tmp_path))
    came = gathered(target, tmp_path / "out")
    assert came.visited.whole and (tmp_path / "out" / "n" / "x").read_text() == "x"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("-oProxyCommand=x", "no name of a host"),
        ("a,,b", "no name of a host"),
        ("node[1-x]", "counted as in node"),
        ("node[2,]", "counted as in node"),
        ("node[0-99999999]", "more than 100,000 hosts"),
        ("a\tb", "no name of a host"),
    ],
)
def test_names_that_are_none(typed: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        host_names.checked(host_names.listed(typed))


def test_a_list_of_many_hosts() -> None:
    assert host_names.listed("gpu[1-2]-[08,10],me@login") == [
        "gpu1-08", "gpu1-10", "gpu2-08", "gpu2-10", "me@login",
    ]  # fmt: skip


def test_a_list_that_leads_elsewhere() -> None:
    lines = [
        "file 1 2 /../../etc/passwd",
        "file 1 2 relative",
        "file x 2 /a",
        "stack 1 2 /tmp/t/../../p.json",
        "rm",
    ]
    assert [one.name for one in listing.read(lines).files] == ["etc/passwd", "stacks/p.json"]


def gathered(target: Target, into: Path, timeout: float = 20) -> Came:
    (came,) = collect([target], into, Wishes(timeout=timeout), lambda _: None)
    return came


def liar(folder: Path, members: Callable[[tarfile.TarFile], None], listed: str, more: bytes = b"") -> Target:
    """A far side that says what it likes, and sends what it likes."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        members(tar)
    folder.mkdir()
    (folder / "said").write_bytes(
        f"welcome!\nraf-collect 1\n{listed}end\nwhole\n".encode() + more + data.getvalue()
    )
    return Target(name="n", reach=("sh", "-c", f"cat {shlex.quote(str(folder / 'said'))}; cat >/dev/null; :"))


def add(tar: tarfile.TarFile, name: str, data: bytes = b"x", **more: object) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mtime = len(data), 1_700_000_000
    for key, value in more.items():
        setattr(member, key, value)
    tar.addfile(member, io.BytesIO(data))


def test_only_what_was_asked_for_is_taken(tmp_path: Path) -> None:
    """No link, no device, and nothing outside of the folder, whatever the archive has."""

    def members(tar: tarfile.TarFile) -> None:
        add(tar, "../../evil")
        add(tar, "/abs")
        add(tar, "dev", b"", type=tarfile.BLKTYPE)
        add(tar, "asked/link", b"", type=tarfile.SYMTYPE, linkname="/etc/passwd")
        add(tar, "hard", b"", type=tarfile.LNKTYPE, linkname="asked/a")
        add(tar, "asked/a", b"yes")
        add(tar, "never/asked")

    listed = "file 3 5 /asked/a\nfile 1 5 /asked/link\nfile 1 5 /hard\nfile 1 5 /../up\n"
    came = gathered(liar(tmp_path / "far", members, listed), tmp_path / "out")
    found = {str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*") if not one.is_dir()}
    assert found == {"far/said", "out/.raf-collect/manifest.json", "out/n/asked/a"}
    assert not came.visited.whole and came.visited.said.startswith("not sent: /asked/link, /hard, /../up")


def test_a_name_has_no_effect_on_the_terminal(tmp_path: Path) -> None:
    target = liar(tmp_path / "far", lambda tar: add(tar, "other"), "file 3 5 /\x1b[31mred\n")
    assert gathered(target, tmp_path / "out").visited.said.startswith("not sent: /?[31mred")


def test_an_archive_that_is_cut_off_keeps_what_is_whole(tmp_path: Path) -> None:
    def members(tar: tarfile.TarFile) -> None:
        add(tar, "a", b"a" * 3000)
        add(tar, "b", b"b" * 3000)

    target = liar(tmp_path / "far", members, "file 3000 5 /a\nfile 3000 5 /b\n")
    said = tmp_path / "far" / "said"
    said.write_bytes(said.read_bytes()[:6000])
    target = Target(name="n", reach=("sh", "-c", f"cat {said}; echo 'the line went dead' >&2; exit 255"))
    came = gathered(target, tmp_path / "out")
    assert came.visited.said == "the line went dead; 1 of 2 files came"
    assert [one.name for one in (tmp_path / "out" / "n").iterdir()] == ["a"]


def test_a_far_side_that_never_ends_its_file(tmp_path: Path) -> None:
    """It says that a file is small, and sends more than what is free to be taken."""
    endless = "import os, tarfile\nm = tarfile.TarInfo('a'); m.size = 1 << 40\nos.write(1, m.tobuf())\n"
    endless += "while True: os.write(1, bytes(1 << 20))\n"
    script = f"printf 'raf-collect 1\\nfile 3 5 /a\\nend\\nwhole\\n'; exec {sys.executable} -c {shlex.quote(endless)}"
    came = gathered(Target(name="n", reach=("sh", "-c", script)), tmp_path / "out", 60)
    assert "expands to more than 400 times its size" in came.visited.said
    assert [one.name for one in (tmp_path / "out").rglob("*")] == [".raf-collect", "manifest.json"]


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo hello", "it ended before it had told what is there"),
        ("exit 3", "ended with status 3"),
        ("kill -9 $$", "ended by SIGKILL"),
        ("echo 'Host key verification failed.' >&2; exit 255", "connect once by hand, or --through"),
        ("yes", "it says too much: 1,000 lines, and none of them is 'raf-collect 1'"),
        ("head -c 100000000 /dev/zero", "it says too much"),
        ("printf 'raf-collect 1\\nend\\n'; exec sleep 600", "no answer in 3 s"),
        # Who does not hear, and who leaves somebody behind that does not.
        ("trap '' TERM; sleep 600", "no answer in 3 s"),
        ("(trap '' TERM; sleep 600) & exit 0", "no answer in 3 s"),
    ],
)
def test_what_is_no_far_side(tmp_path: Path, script: str, said: str) -> None:
    began = time.monotonic()
    came = gathered(Target(name="n", reach=("sh", "-c", script)), tmp_path / "out", 3)
    assert not came.visited.whole and said in came.visited.said
    assert time.monotonic() - began < 20


def test_a_manifest_that_is_none_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    target = Target(name="n", reach=("env",), patterns=("x",), folder=str(tmp_path))
    out = tmp_path / "out"
    assert gathered(target, out).new == 1
    (out / ".raf-collect" / "manifest.json").write_text('{"machines": 3}')
    assert (came := gathered(target, out)).kept == 1 and came.visited.whole
