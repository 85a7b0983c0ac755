"""A person's mistakes are one line and exit status 2; never a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.cli.raf_runs import Raf

from rankandfile import __version__

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "arguments",
    [
        ["diagnose", "/does/not/exist"],
        ["show", "calls", "/does/not/exist"],
        ["show", "calls", "{dumps}", "--rank", "three"],
        ["show", "calls", "{dumps}", "--group", "nobody"],
        ["show", "calls", "{dumps}", "--state", "asleep"],
        ["show", "calls", "{dumps}", "--seq", "9-3"],
        ["convert", "{dumps}", "-o", "{full}"],
        ["convert", "{dumps}", "-o", "{file}"],
        ["lab", "run", "no-such-scenario"],
        ["lab", "score", "--set", "{full}"],
        ["fr-trace", "{dumps}", "--transform-ft"],
        ["diagnose", "{full}"],
    ],
    ids=lambda arguments: " ".join(arguments),
)
def test_one_line_and_status_2(raf: Raf, other_op: Path, tmp_path: Path, arguments: list[str]) -> None:
    full = tmp_path / "full"
    full.mkdir()
    (full / "notes.txt").write_text("nothing of interest\n")
    names = {"dumps": other_op, "full": full, "file": full / "notes.txt"}
    done = raf(*(argument.format(**names) for argument in arguments))
    assert done.status == 2
    assert done.out == ""
    lines = [line for line in done.err.splitlines() if line.strip()]
    assert len(lines) == 1, done.err
    assert lines[0].startswith("raf: ")


@pytest.mark.parametrize("arguments", [["diagnose"], ["diagnose", "x", "--nonsense"], ["nonsense"]])
def test_usage_errors_have_status_2_and_no_traceback(raf: Raf, arguments: list[str]) -> None:
    done = raf(*arguments)
    assert done.status == 2
    assert "Traceback" not in done.err


def test_a_closed_pipe_is_no_error(other_op: Path) -> None:
    raf = f"{sys.executable} -m rankandfile"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {raf} show calls {other_op} -n 0 | head -1; echo $?"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_version(raf: Raf) -> None:
    assert raf("--version").out == f"raf {__version__}\n"


@pytest.mark.parametrize(
    "command", ["diagnose", "convert", "show calls", "show groups", "show progress", "lab run"]
)
def test_help_shows_examples(raf: Raf, command: str) -> None:
    done = raf(*command.split(), "--help")
    assert done.status == 0
    assert f"raf {command} " in done.out.partition("Examples:")[2]
