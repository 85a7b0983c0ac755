"""The diagnosis in a process of its own: whatever happens in it, the job and its watcher go on."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

#: Long beyond any case of one node.
LONGEST_S = 300.0


class Answer(NamedTuple):
    status: int
    """As of `raf diagnose`: 0 no hang, 1 a verdict, 2 unreadable, 3 undetermined."""
    card: str
    said: str
    hang: bool = False
    """It is a hang, also where nothing tells who is at fault."""

    @property
    def is_hang(self) -> bool | None:
        """None for undetermined."""
        return True if self.status == 1 or self.hang else False if self.status == 0 else None

    @property
    def words(self) -> str:
        """Why there is no verdict to show."""
        return {0: "the evidence shows no hang", 3: "the evidence does not tell why"}.get(
            self.status, self.said
        )


def diagnose(case: Path, source: Path | None, unicode: bool, width: int) -> Answer:
    """Diagnose `case/evidence`, writing `diagnosis.json` and `report.html` beside it."""
    command = [sys.executable, "-m", "rankandfile", "diagnose", str(case / "evidence"), "--jobs", "1"]
    command += ["--output", str(case / "diagnosis.json"), "--report", str(case / "report.html")]
    command += ["--src", str(source)] if source is not None else []
    command += ["--unicode" if unicode else "--no-unicode"]
    # Not from the current folder, which holds the job's files, nor with the job's settings.
    start = f"import sys; sys.path[:] = {sys.path!r}; from rankandfile.cli.main import main; main()"
    command[1:3] = ["-c", start]
    env = {**os.environ, "COLUMNS": str(width), "PYTHONIOENCODING": "utf-8"}
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
        )
    except OSError as error:
        return Answer(2, "", f"the diagnosis does not start: {error.strerror or error}")
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, process.pid, 5)  # the job comes first
    try:
        out, told = process.communicate(timeout=LONGEST_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return Answer(2, "", f"the diagnosis took longer than {LONGEST_S:.0f} s")
    words = out.decode("utf-8", "replace"), told.decode("utf-8", "replace").strip()
    if process.returncode == 1 and not (case / "diagnosis.json").is_file():
        # Python ends with 1, too, where it breaks down: that is no verdict.
        return Answer(
            2, "", f"the diagnosis broke off: {words[1].splitlines()[-1] if words[1] else 'no word'}"
        )
    return Answer(process.returncode, *words, _is_hang(case / "diagnosis.json"))


def _is_hang(path: Path) -> bool:
    try:
        verdicts = json.loads(path.read_bytes())["verdicts"]
        return any(verdict["hang"] is True for verdict in verdicts)
    except (OSError, ValueError, LookupError, TypeError):
        return False
