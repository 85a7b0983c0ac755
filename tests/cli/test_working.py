"""Whatever takes long says so on a terminal, and is silent everywhere else."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from rankandfile.cli import progress

EXAMPLE = Path(__file__).parents[2] / "examples" / "early-stop"


@pytest.mark.parametrize("terminal", [True, False])
def test_only_a_terminal_sees_it(monkeypatch: pytest.MonkeyPatch, terminal: bool) -> None:
    file = io.StringIO()
    monkeypatch.setattr(progress, "err", Console(file=file, force_terminal=terminal, width=80))
    with progress.working("reasoning"):
        pass
    assert ("reasoning" in file.getvalue()) == terminal


def test_on_a_terminal_each_step_is_named_and_the_answer_stays_clean() -> None:
    """On a real one: what is being done goes to stderr and is wiped away, the answer alone goes to stdout."""
    ours, theirs = pty.openpty()
    command = ["diagnose", EXAMPLE / "evidence", "--src", EXAMPLE / "src"]
    done = subprocess.run(
        [sys.executable, "-m", "rankandfile", *map(str, command)],
        stdout=subprocess.PIPE, stderr=theirs, check=False, timeout=300,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"},
    )  # fmt: skip
    os.close(theirs)
    said = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:
            break
        if not chunk:
            break
        said += chunk
    os.close(ours)
    for step in (b"reading", b"reasoning", b"reading the source"):
        assert step in said
    assert done.stdout.decode().startswith("EARLY EXIT")
    assert b"reasoning" not in done.stdout
    assert b"\x1b[" not in done.stdout
