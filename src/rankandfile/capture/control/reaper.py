"""Ends what a rank's actor leaves where it is killed: a process beside it, which loads only Python's own library.

The actor writes the group of the script's processes to its input, and a farewell once it has cleaned up. An input that
ends without one says that the actor is gone; the kernel closes it whatever ended that.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

_FAREWELL = "farewell"
#: For processes that were killed to be gone.
_GONE_S = 5.0


class Reaper:
    """The actor's side."""

    def __init__(self, reader: int | None, folders: Sequence[Path]) -> None:
        """`folders` are removed once the process `reader`, if there is one, is gone: it may still read them."""
        command = [sys.executable, "-I", "-S", __file__, str(reader or 0), *map(str, folders)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip

    def begun(self, group: int) -> None:
        self._tell(str(group))

    def farewell(self) -> None:
        self._tell(_FAREWELL)

    def _tell(self, word: str) -> None:
        told = self._process.stdin
        assert told is not None
        with contextlib.suppress(OSError):
            told.write(f"{word}\n".encode())
            told.flush()


def _reap(reader: int, folders: Sequence[str]) -> None:
    watched = _descriptor(reader)
    group = 0
    for word in map(str.strip, sys.stdin):
        if word == _FAREWELL:
            return
        group = int(word)
    if group:
        _kill(group)
    if watched is not None:
        select.select([watched], [], [])
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
        if reader:
            with contextlib.suppress(OSError):
                Path(folder).parent.rmdir()  # the whole job's, once the last rank's is gone


def _descriptor(process: int) -> int | None:
    """Of a process, to wait for its end by: its number alone may be another's by then."""
    with contextlib.suppress(OSError, AttributeError):
        return os.pidfd_open(process) if process else None
    return None


def _kill(group: int) -> None:
    until = time.monotonic() + _GONE_S
    with contextlib.suppress(OSError):
        while time.monotonic() < until:
            os.killpg(group, signal.SIGKILL)
            time.sleep(0.02)


if __name__ == "__main__":
    _reap(int(sys.argv[1]), sys.argv[2:])
