"""The job's output, passed on as it comes and kept for the diagnosis."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import termios
import threading
import tty
from pathlib import Path

#: A log is kept in two parts of this size: what is older than both is let go.
PART = 32 << 20


class Kept:
    """A file that never grows beyond two parts; `path.before` holds the older one."""

    def __init__(self, path: Path, part: int = PART) -> None:
        self.path = path
        self._part = part
        self._file = path.open("wb", buffering=0)
        self._size = 0

    def write(self, data: bytes) -> None:
        """Raises nothing: a full disk costs the copy, not the job's output."""
        with contextlib.suppress(OSError, ValueError):
            if self._size > self._part:
                self._file.close()
                self.path.replace(self.path.with_name(f"{self.path.name}.before"))
                self._file = self.path.open("wb", buffering=0)
                self._size = 0
            self._size += self._file.write(data)

    def close(self) -> None:
        self._file.close()


class Tee:
    """One stream of the job. What the job sees is a terminal exactly if `into` is one."""

    def __init__(self, into: int, kept: Path) -> None:
        self._into = into
        self._kept = Kept(kept)
        if os.isatty(into):
            self._read, self.job_end = pty.openpty()
            # Bytes pass unchanged: the real terminal does what there is to do.
            tty.setraw(self.job_end)
            self.resize()
        else:
            self._read, self.job_end = os.pipe()
        self._thread = threading.Thread(target=self._run, name="raf-tee", daemon=True)

    def start(self) -> None:
        """To be called when the job has its end."""
        os.close(self.job_end)
        self._thread.start()

    def resize(self) -> None:
        """The job's terminal gets the size of the real one."""
        with contextlib.suppress(OSError):
            size = fcntl.ioctl(self._into, termios.TIOCGWINSZ, bytes(8))
            fcntl.ioctl(self._read, termios.TIOCSWINSZ, size)

    def _run(self) -> None:
        while True:
            try:
                data = os.read(self._read, 1 << 16)
                if not data:
                    break
                self._kept.write(data)
                _write_all(self._into, data)
            except OSError:
                # The last writer has left a terminal; or nobody reads any more, and the job shall learn it as it would
                # without us: with its next write.
                break
        self._kept.close()
        os.close(self._read)

    def finish(self, seconds: float) -> None:
        """Wait until everything has been passed on; a process that outlives the job may hold the stream longer."""
        self._thread.join(seconds)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
