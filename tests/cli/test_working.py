"""Whatever takes long says so on a terminal, and is silent everywhere else."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console
from support.places import EARLY_STOP

from rankandfile.cli import progress

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("terminal", [True, False])
def test_only_a_terminal_sees_it(monkeypatch: pytest.MonkeyPatch, terminal: bool) -> None:
    file = io.StringIO()
    monkeypatch.setattr(progress, "err", Console(file=file, force_terminal=terminal, width=80))
    with progress.working("reasoning"):
        pass
    assert ("reasoning" in file.getvalue()) == terminal


def test_what_is_left_is_told_once_the_pace_tells_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the pace of the step itself: what was done before it does not count."""
    file = io.StringIO()
    monkeypatch.setattr(progress, "err", Console(file=file, force_terminal=True, width=80))
    now = [0.0]
    monkeypatch.setattr("rankandfile.cli.progress.time.monotonic", lambda: now[0])

    def said(what: str, done: int, at: float) -> str:
        begin, now[0] = file.tell(), at
        with progress.watching() as show:
            assert show is not None
            show(what, 0, 0)
            now[0] += at
            show(what, done, 2000)
        return file.getvalue()[begin:]

    assert "reading 1/2,000" in (early := said("reading", 1, 60.0)) and "left" not in early
    assert "left" not in said("reading", 1000, 2.0)
    assert "reading 500/2,000, about 90 s of it left" in said("reading", 500, 30.0)
    assert "about 5 min of it left" in said("reading", 500, 100.0)
    assert "left" not in said("reading", 2000, 100.0)


def test_on_a_terminal_each_step_is_named_and_the_answer_stays_clean(tmp_path: Path) -> None:
    """On a real one: what is being done goes to stderr and is wiped away, the answer alone goes to stdout."""
    ours, theirs = pty.openpty()
    command = ["diagnose", EARLY_STOP / "evidence", "--src", EARLY_STOP / "src"]
    with (tmp_path / "answer").open("wb") as answer:
        process = subprocess.Popen(
            [sys.executable, "-m", "rankandfile", *map(str, command)],
            stdout=answer, stderr=theirs, env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"},
        )  # fmt: skip
        os.close(theirs)
        # Read while it runs: a terminal that nobody reads from holds the program up.
        said = read_all(ours)
        process.wait(timeout=300)
    for step in ("reading", "reasoning", "reading the source"):
        assert step in said
    shown = (tmp_path / "answer").read_text(encoding="utf-8")
    assert shown.startswith("HANG: rank 2 left early")
    assert "reasoning" not in shown
    assert "\x1b[" not in shown


def test_a_narrow_terminal_without_colour_and_symbols() -> None:
    """`NO_COLOR` and `--no-unicode` in a window of 60 columns: words, and at most weight."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "rankandfile", "diagnose", str(EARLY_STOP / "evidence"), "--no-unicode"],
        stdout=theirs, stderr=subprocess.DEVNULL,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "60", "NO_COLOR": "1"},
    )  # fmt: skip
    os.close(theirs)
    said = read_all(ours)
    assert process.wait(timeout=300) == 1
    codes = {code for codes in re.findall(r"\x1b\[([\d;]*)m", said) for code in codes.split(";")}
    assert codes <= {"", "0", "1", "2"}, "colours"
    lines = re.sub(r"\x1b\[[\d;]*m|\r", "", said).splitlines()
    assert lines[0].startswith("HANG: rank 2 made another call")
    assert all(line.isascii() and len(line) <= 60 for line in lines)


def read_all(terminal: int) -> str:
    said = b""
    while True:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # Linux says so where the other side has closed it.
            chunk = b""
        if not chunk:
            os.close(terminal)
            return said.decode()
        said += chunk
