"""How processes end that are children of somebody else: the kernel tells their parent, and us if we are quick."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import struct
import threading

from rankandfile.capture.watch import processes

#: `struct pidfd_info` and its ioctl: Linux 6.15 and later keep the exit status for whoever holds the pidfd.
_INFO = struct.Struct("<QQ11Ii")
_GET_INFO = (3 << 30) | (_INFO.size << 16) | (0xFF << 8) | 11
_EXIT = 1 << 3


class Endings:
    """Waits for processes in a thread of its own: between a process's end and its parent's notice lie milliseconds."""

    def __init__(self) -> None:
        self._watched: dict[int, int] = {}
        self._codes: dict[int, int] = {}
        self._poll = select.epoll()
        threading.Thread(target=self._run, name="raf-endings", daemon=True).start()

    def watch(self, pid: int) -> None:
        """From now on, or how it has ended where its parent has not asked yet. Nothing if it is watched, or gone."""
        if pid in self._watched:
            return
        with contextlib.suppress(OSError):
            self._watched[pid] = fd = os.pidfd_open(pid)
            self._poll.register(fd, select.EPOLLIN | select.EPOLLONESHOT)

    def code(self, pid: int) -> int | None:
        """Exit code of a process that has ended, negative for a signal; None where nothing told."""
        fd = self._watched.get(pid)
        if pid not in self._codes and fd is not None and (told := _kept_by_kernel(fd)) is not None:
            self._codes[pid] = os.waitstatus_to_exitcode(told)
        return self._codes.get(pid)

    def _run(self) -> None:
        while True:
            with contextlib.suppress(InterruptedError):
                ended = {fd for fd, _ in self._poll.poll()}
                for pid, fd in list(self._watched.items()):
                    found = processes.status(pid) if fd in ended else None
                    # Where we may not know, the kernel says 0.
                    if found is not None and found.state == "Z" and found.wait_status:
                        self._codes[pid] = os.waitstatus_to_exitcode(found.wait_status)


def _kept_by_kernel(fd: int) -> int | None:
    asked = bytearray(_INFO.pack(_EXIT, *[0] * 13))
    try:
        fcntl.ioctl(fd, _GET_INFO, asked)
    except OSError:
        return None
    values = _INFO.unpack(asked)
    return values[-1] if values[0] & _EXIT else None
