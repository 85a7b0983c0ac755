"""The job's output, passed on as it comes and kept for the diagnosis."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import termios
import threading
import tty
from pathlib import Path

#: A log is kept in two parts of this size: what is older than both is let go.
PART = 32 << 20
#: More than a pipe holds: a read takes all there is, and ends where somebody's write ended.
READ = 1 << 17


class Kept:
    """A file that never grows beyond two parts; `path.before` holds the older one. It goes on with what is there."""

    def __init__(self, path: Path, part: int = PART) -> None:
        self.path = path
        self._part = part
        self._file = path.open("ab", buffering=0)
        self._size = self._file.tell()

    def write(self, data: bytes) -> None:
        """Raises nothing: a full disk costs the copy, not the job's output."""
        with contextlib.suppress(OSError, ValueError):
            if self._size > self._part:
                self._file.close()
                self.path.replace(self.path.with_name(f"{self.path.name}.before"))
                self._file = self.path.open("ab", buffering=0)
                self._size = 0
            self._size += self._file.write(data)

    def close(self) -> None:
        self._file.close()


class Stream:
    """One of our own streams, and all that the job writes to it: by one thread, so that what was written at once stays
    together. What the job sees is a terminal exactly if `into` is one."""

    def __init__(self, into: int) -> None:
        self._into = into
        self._sources: dict[int, Kept] = {}
        self._poll = select.epoll()
        self._over = False
        self._drained = threading.Event()
        self._waking, self._wake = os.pipe()
        self._poll.register(self._waking, select.EPOLLIN)
        self._thread = threading.Thread(target=self._run, name="raf-stream", daemon=True)

    def open(self, log: Path) -> int:
        """A new end for somebody to write to; the caller closes it when it has been handed on. Raises OSError."""
        kept = Kept(log)
        if os.isatty(self._into):
            ours, theirs = pty.openpty()
            # Bytes pass unchanged: the real terminal does what there is to do.
            tty.setraw(theirs)
        else:
            ours, theirs = os.pipe()
        self._sources[ours] = kept
        self.resize()
        self._poll.register(ours, select.EPOLLIN)
        return theirs

    def start(self) -> None:
        self._thread.start()

    def resize(self) -> None:
        """The job's terminals get the size of the real one."""
        with contextlib.suppress(OSError):
            size = fcntl.ioctl(self._into, termios.TIOCGWINSZ, bytes(8))
            for ours in list(self._sources):
                fcntl.ioctl(ours, termios.TIOCSWINSZ, size)

    def finish(self, seconds: float) -> None:
        """Wait until everything has been passed on; a process that outlives the job may hold a stream longer."""
        self._over = True
        os.close(self._wake)
        self._drained.wait(seconds)

    def _run(self) -> None:
        while self._sources or not self._over:
            for ours, _ in self._poll.poll():
                if ours == self._waking:
                    self._poll.unregister(ours)
                elif not self._pass_on(ours):
                    self._close(ours)
        self._drained.set()

    def _pass_on(self, ours: int) -> bool:
        """Whether there may be more."""
        try:
            data = os.read(ours, READ)
            self._sources[ours].write(data)
            _write_all(self._into, data)
        except OSError:
            # The last writer has left a terminal; or nobody reads any more, and the job shall learn it as it would
            # without us: with its next write.
            return False
        return bool(data)

    def _close(self, ours: int) -> None:
        self._poll.unregister(ours)
        self._sources.pop(ours).close()
        os.close(ours)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:  # somebody who shares our terminal does not want to wait for it
            select.select([], [fd], [])
