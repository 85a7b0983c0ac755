"""Investigations that start by themselves when a case is made, beside the job: its watcher waits for none of them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

#: A model's own limit, and what the playbook takes.
LONGEST_S = 1_200.0
_GRACE_S = 30.0


@dataclass
class Investigations:
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
        # Not from the current folder, which holds the job's files.
        begin = f"import sys; sys.path[:] = {sys.path!r}; from rankandfile.cli.main import main; main()"
        try:
            with (case / "investigation.log").open("wb") as log:
                process = subprocess.Popen(
                    [sys.executable, "-c", begin, *command],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    # Ctrl-C ends the job; what is known of it is still written down.
                    start_new_session=True,
                )
        except OSError as error:
            self.say(f"the investigation does not start: {error.strerror or error}")
            return
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, process.pid, 5)  # the job comes first
        self._running.append((case, process))

    def finish(self) -> None:
        """Wait for those that still run, and say where each has written."""
        deadline = time.monotonic() + LONGEST_S
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
        process.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
