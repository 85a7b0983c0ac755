"""A case's diagnosis and investigation in processes of their own: whatever they do, the job and its watcher go on."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from rankandfile.own_python import own_python

#: Long beyond any case of one node; a model's own limit, and what the playbook takes; an interrupted one's last words.
DIAGNOSIS_S, INVESTIGATION_S, GRACE_S = 300.0, 1_200.0, 30.0


#: The cause of a job that will go on.
LATE = "host_slow"


class Answer(NamedTuple):
    status: int
    """As of `raf diagnose`: 0 no hang, 1 a verdict, 2 unreadable, 3 undetermined."""
    card: str
    said: str
    hang: bool = False
    """It is a hang, also where nothing tells who is at fault."""
    late: str = ""
    """Where all that it found is a rank that works and is late: its sentence."""

    @property
    def is_hang(self) -> bool | None:
        """None for undetermined."""
        if self.late:
            return False
        return True if self.status == 1 or self.hang else False if self.status == 0 else None

    @property
    def words(self) -> str:
        """Why there is no verdict to show."""
        if self.late:
            return f"slow so far, and no hang: {self.late}"
        return {0: "the evidence shows no hang", 3: "the evidence does not tell why"}.get(
            self.status, self.said
        )


def diagnose(
    case: Path, source: Path | None, unicode: bool, width: int, options: Sequence[str] = ()
) -> Answer:
    """Diagnose `case/evidence`, writing `diagnosis.json` and `report.html` beside it. `options` are more of the
    command's own."""
    command = ["diagnose", str(case / "evidence"), "--jobs", "1"]
    command += ["--output", str(case / "diagnosis.json"), "--report", str(case / "report.html")]
    command += ["--src", str(source)] if source is not None else []
    command += ["--unicode" if unicode else "--no-unicode", *options]
    env = {**os.environ, "COLUMNS": str(width), "PYTHONIOENCODING": "utf-8"}
    try:
        process = _start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    except OSError as error:
        return Answer(2, "", f"the diagnosis does not start: {error.strerror or error}")
    try:
        out, told = process.communicate(timeout=DIAGNOSIS_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return Answer(2, "", f"the diagnosis took longer than {DIAGNOSIS_S:.0f} s")
    words = out.decode("utf-8", "replace"), told.decode("utf-8", "replace").strip()
    if process.returncode not in (0, 2, 3) and not (case / "diagnosis.json").is_file():
        # It has broken down, or was ended: that is no verdict.
        return Answer(
            2, "", f"the diagnosis broke off: {words[1].splitlines()[-1] if words[1] else 'no word'}"
        )
    return Answer(process.returncode, *words, *_read(case / "diagnosis.json"))


def _read(path: Path) -> tuple[bool, str]:
    """Whether it is a hang, and the sentence of one that is a matter of time."""
    try:
        verdicts = json.loads(path.read_bytes())["verdicts"]
        # Also what may be one or may not: of who works, that mostly stays open.
        perhaps = [verdict for verdict in verdicts if verdict["hang"] is not False]
        late = perhaps and all(verdict["cause"] == LATE for verdict in perhaps)
        hang = any(verdict["hang"] is True for verdict in verdicts)
        return hang, str(perhaps[0]["sentence"]) if late else ""
    except (OSError, ValueError, LookupError, TypeError):
        return False, ""


@dataclass
class Investigations:
    """Those that start by themselves when a case is made, beside the job: its watcher waits for none of them."""

    source: Path | None
    model: str | None
    say: Callable[[str], None]
    _running: list[tuple[Path, subprocess.Popen[bytes]]] = field(default_factory=list)

    def start(self, case: Path) -> None:
        """Of `case/evidence`, into the case's folder."""
        command = ["investigate", str(case / "evidence"), "--output", str(case), "--jobs", "1"]
        command += ["--src", str(self.source)] if self.source is not None else []
        # A job can be looked at several times in one hang: a model costs money, and is asked once.
        asked = self.model if not self._running else None
        command += ["--model", asked] if asked is not None else []
        try:
            with (case / "investigation.log").open("wb") as log:
                # Ctrl-C ends the job; what is known of it is still written down.
                process = _start(command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        except OSError as error:
            self.say(f"the investigation does not start: {error.strerror or error}")
            return
        self._running.append((case, process))

    def finish(self) -> None:
        """Wait for those that still run, and say where each has written."""
        deadline = time.monotonic() + INVESTIGATION_S
        for case, process in self._running:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except (subprocess.TimeoutExpired, KeyboardInterrupt):
                _end(process)
            written = case / "investigation.md"
            self.say(f"investigation: {written if written.exists() else case / 'investigation.log'}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Interrupted, it writes down what there is."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _start(command: list[str], **how: Any) -> subprocess.Popen[bytes]:
    """`raf` with these arguments, at lower priority: the job comes first."""
    command = [*own_python("from rankandfile.cli.main import main; main()"), *command]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, **how)
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, process.pid, 5)
    return process
