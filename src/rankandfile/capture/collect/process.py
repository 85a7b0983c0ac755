"""One of the site's commands, run for as long as it may take, and never longer than its starter lives."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from io import BufferedReader
from typing import IO, cast

#: What a command gets to go after it was asked to: srun ends its step meanwhile.
_GRACE_S = 3.0
_TOLD = 8192
#: Would put a number before each line, and into each tar.
_LABELS = "SLURM_LABELIO"


class Process:
    """`out` is what it prints, `said` what it complains of; `late` is true once its time was over."""

    def __init__(self, command: Sequence[str], seconds: float) -> None:
        """Raises OSError where it cannot be started."""
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        environment = {name: value for name, value in os.environ.items() if name != _LABELS}
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._complaints,
                env=environment,
                # What it starts itself, such as the way through a gate, ends with it.
                start_new_session=True,
            )
        except BaseException:
            self._complaints.close()
            raise
        self.out = cast("BufferedReader", self._process.stdout)
        self.late = False
        self._ending = threading.Lock()
        self._timer = threading.Timer(max(seconds, 0.0), self._too_late)
        self._timer.daemon = True
        self._timer.start()

    def write(self, data: bytes) -> None:
        """One that has gone is seen by what it said."""
        stdin = cast("IO[bytes]", self._process.stdin)
        with contextlib.suppress(OSError, ValueError):
            stdin.write(data)
            stdin.flush()

    def read(self, size: int) -> bytes:
        """What has come, up to so much; nothing only at the end."""
        return self.out.read1(size)

    def wait(self) -> int:
        """Its exit status, when it has printed all."""
        with contextlib.suppress(OSError):
            cast("IO[bytes]", self._process.stdin).close()
        while self.out.read(1 << 16):
            pass
        return self._process.wait()

    def said(self) -> str:
        size = self._complaints.seek(0, os.SEEK_END)
        self._complaints.seek(max(0, size - _TOLD))
        return self._complaints.read().decode("utf-8", "replace")

    def end(self) -> None:
        """Ask it to go, and make it go, with all that it has started: one of them may hold what is read here."""
        with self._ending:
            if self._process.returncode is not None or not self._signal(signal.SIGTERM):
                return
            until = time.monotonic() + _GRACE_S
            while time.monotonic() < until:
                self._process.poll()
                if not self._signal(0):
                    return
                time.sleep(0.02)
            self._signal(signal.SIGKILL)

    def close(self) -> None:
        self._timer.cancel()
        if self._process.poll() is None:
            self.end()
        self._process.wait()
        for stream in (self._process.stdin, self.out, self._complaints):
            with contextlib.suppress(OSError, AttributeError):
                cast("IO[bytes]", stream).close()

    def _too_late(self) -> None:
        self.late = True
        self.end()

    def _signal(self, number: int) -> bool:
        """Whether anybody was there to hear it."""
        try:
            os.killpg(self._process.pid, number)
        except OSError:
            return False
        return True


class Running:
    """All that run now, to be ended together."""

    def __init__(self) -> None:
        self._running: set[Process] = set()
        self._lock = threading.Lock()
        self._over = False

    @contextlib.contextmanager
    def start(self, command: Sequence[str], seconds: float) -> Iterator[Process]:
        """Raises OSError."""
        process = Process(command, seconds)
        with self._lock:
            self._running.add(process)
            over = self._over
        try:
            if over:
                process.end()
            yield process
        finally:
            with self._lock:
                self._running.discard(process)
            process.close()

    def end(self) -> None:
        with self._lock:
            self._over = True
            running = list(self._running)
        threads = [threading.Thread(target=process.end) for process in running]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
