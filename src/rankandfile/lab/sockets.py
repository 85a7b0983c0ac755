"""Keep a process's sockets open past its death.

Under NCCL the peers of a rank that dies keep waiting; under gloo they notice at once, because the kernel closes the
dead process's connections. Holding a duplicate of each socket in the runner takes that difference away.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

_PIDFD_OPEN = 434
_PIDFD_GETFD = 438


def keep_sockets(pid: int) -> list[int]:
    """Duplicates of all sockets of `pid`; empty where the kernel does not allow it."""
    libc = ctypes.CDLL(None, use_errno=True)
    handle = libc.syscall(_PIDFD_OPEN, pid, 0)
    if handle < 0:
        return []
    kept = []
    try:
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            if entry.readlink().as_posix().startswith("socket:"):
                copy = libc.syscall(_PIDFD_GETFD, handle, int(entry.name), 0)
                if copy >= 0:
                    kept.append(copy)
    finally:
        os.close(handle)
    return kept
