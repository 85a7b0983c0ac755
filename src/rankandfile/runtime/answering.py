"""What lets a rank be asked while it hangs: torch's own worker server on a socket of this user's, and py-spy let in."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_PR_SET_PTRACER = 0x59616D61
#: What a socket's path may take, by the kernel.
_LONGEST = 107
_OWN_WORDS = b"Server listening to UNIX"


def answer(folder: Path) -> None:
    """Serve at `folder/rank-PID.sock`. It is C++, and answers also while Python's lock is held."""
    from torch._C._distributed_c10d import _WorkerServer

    path = socket_of(folder)
    if len(os.fsencode(path)) > _LONGEST:
        return
    path.unlink(missing_ok=True)
    server = _without_its_line(lambda: _WorkerServer(str(path)))
    # Never taken down: at the interpreter's end that would wait for its threads, and print three lines.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(server))
    path.chmod(0o600)


def socket_of(folder: Path) -> Path:
    """Where this process answers."""
    return folder / f"rank-{os.getpid()}.sock"


def let_look(pid: int) -> None:
    """Where the kernel lets only ancestors take stacks of this process (Yama), let that one, and what it starts, do so
    too."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_ulong(pid), 0, 0, 0)


def _without_its_line(make: Callable[[], Any]) -> Any:
    """torch warns that it serves, which is nothing the job's output is for; what others print meanwhile is kept."""
    held = os.memfd_create("raf")
    real = os.dup(2)
    os.dup2(held, 2)
    try:
        return make()
    finally:
        os.dup2(real, 2)
        os.lseek(held, 0, os.SEEK_SET)
        with contextlib.suppress(OSError):
            for line in os.read(held, 1 << 20).splitlines(keepends=True):
                if _OWN_WORDS not in line:
                    os.write(2, line)
        os.close(real)
        os.close(held)
