"""Mistakes in what `raf collect` is told are one line before anything is asked of any node."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from support.cli.raf_runs import Raf

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--ssh", "a"], "where to? -o job.case for one file, or -o DIR for a folder"),
        (["-o", "{out}"], "from where? --slurm JOB, --kubernetes NAMESPACE/SELECTOR, --ssh HOSTS"),
        (
            ["-o", "{out}", "--slurm", "1", "--ssh", "a"],
            "one of --slurm, --kubernetes, and --ssh or --hosts at a time",
        ),
        (["-o", "{out}", "--ssh", "-oProxyCommand=touch x"], "'-oProxyCommand=touch x': no name of a host"),
        (["-o", "{out}", "--ssh", "a,,b"], "'': no name of a host"),
        (["-o", "{out}", "--ssh", "node[1-"], "hosts are counted as in node[01-16,20]"),
        (["-o", "{out}", "--hosts", "{out}.none"], "--hosts {out}.none: No such file or directory"),
        (["-o", "{out}", "--shared", "{out}.none"], "--shared {out}.none: no such folder"),
        (["-o", "{here}/sub/job", "--shared", "{here}"], "would be gathered into itself"),
        (["-o", "{out}", "--ssh", "a", "--through", "no-such-ssh -v"], "no-such-ssh: no such command here"),
        (["-o", "{out}", "--ssh", "a", "--through", "'ssh"], "--through 'ssh: No closing quotation"),
        (["-o", "{out}", "--ssh", "a", ""], "a pattern is empty"),
        (["-o", "{out}", "--ssh", "a", "x\ny"], "a pattern is empty, or has a line break in it"),
        (["-o", "{out}", "--slurm", "job; x", "--through", "env"], "--slurm job; x: the number of a job"),
        (["-o", "{out}.html", "--ssh", "a"], "the name of a file; what is written goes into a folder"),
        (["-o", "{here}/file/below", "--ssh", "a"], "{here}/file is a file"),
        (["-o", "{here}/none/job.zip", "--ssh", "a"], "no folder {here}/none"),
        (["-o", "{out}", "--ssh", "a", "--timeout", "0"], "--timeout"),
    ],
)
def test_a_mistake_is_one_line(raf: Raf, tmp_path: Path, words: list[str], said: str) -> None:
    (tmp_path / "file").touch()
    places = {"out": tmp_path / "job", "here": tmp_path}
    done = raf("collect", *(word.format(**places) for word in words))
    assert (done.status, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert said.format(**places) in done.err
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_a_shared_folder_is_gathered_without_any_other_machine(raf: Raf, tmp_path: Path) -> None:
    (tmp_path / "it's; shared" / "a").mkdir(parents=True)
    (tmp_path / "it's; shared" / "a" / "x").write_text("x")
    (tmp_path / "it's; shared" / "b").write_text("b")
    done = raf("collect", "--shared", tmp_path / "it's; shared", "-o", tmp_path / "job")
    assert done.status == 0
    names = [
        one.parts[-2:] for one in (tmp_path / "job").rglob("*") if one.is_file() and one.suffix != ".json"
    ]
    assert min(names) == ("a", "x") and len(names) == 2
    done = raf("collect", "--shared", tmp_path / "it's; shared", "-o", tmp_path / "other", "a/*")
    assert done.status == 0 and "1 new file" in done.out


def test_on_a_terminal_it_says_how_many_nodes_are_done(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "x").write_text("x")
    ours, theirs = pty.openpty()
    command = ["collect", "--shared", tmp_path / "shared", "-o", tmp_path / "job"]
    process = subprocess.Popen(
        [sys.executable, "-m", "rankandfile", *map(str, command)],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
    )
    os.close(theirs)
    said = b""
    while piece := _read(ours):
        said += piece
    os.close(ours)
    assert process.communicate(timeout=60)[0].startswith(str(tmp_path / "job").encode())
    assert b"gathering, nodes" in said


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # its other end is closed
        return b""
