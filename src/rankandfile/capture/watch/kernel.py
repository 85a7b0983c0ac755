"""What the kernel says of the job: its messages since the start, and what control groups count as killed."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

_KILLED = re.compile(r"^oom_kill (\d+)$", re.MULTILINE)
_MESSAGE = 8192
_MOST = 4 << 20


class Kernel:
    """Since its making: counters go on for the life of a control group, messages for that of the machine."""

    def __init__(self) -> None:
        self._since_us = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000 - 1_000_000
        self._wall = time.time()
        self._at_first: dict[Path, int] = {}

    def note(self, pids: Iterable[int]) -> None:
        """Remember the counters of the groups that these processes are in, when they are first seen."""
        for pid in pids:
            if (path := _counters(pid)) is not None and path not in self._at_first:
                self._at_first[path] = _killed(path)

    def collect(self, folder: Path) -> bool:
        """Write what there is to say; whether the kernel's messages could be read."""
        killed = sum(_killed(path) - before for path, before in self._at_first.items())
        messages = _messages(self._since_us)
        if messages is None:
            messages = _journal(self._wall)
        if killed > 0 or messages:
            folder.mkdir(parents=True, exist_ok=True)
        if killed > 0:
            (folder / "memory.events").write_text(f"oom_kill {killed}\n")
        if messages:
            (folder / "dmesg.log").write_text("\n".join(messages) + "\n")
        return messages is not None


def _counters(pid: int) -> Path | None:
    """The file with the count of processes that were killed for want of memory in this one's control group."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
            _, controllers, group = line.split(":", 2)
            if not controllers:
                path = Path(f"/sys/fs/cgroup{group}/memory.events")
            elif "memory" in controllers.split(","):
                path = Path(f"/sys/fs/cgroup/memory{group}/memory.oom_control")
            else:
                continue
            if path.is_file():
                return path
    return None


def _killed(path: Path) -> int:
    try:
        return sum(map(int, _KILLED.findall(path.read_text())))
    except OSError:
        return 0


def _messages(since_us: int) -> list[str] | None:
    """Lines as dmesg prints them; None where they may not be read."""
    try:
        fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
    lines: list[str] = []
    size = 0
    try:
        while size < _MOST:
            try:
                record = os.read(fd, _MESSAGE).decode("utf-8", "replace")
            except BlockingIOError:
                break
            except BrokenPipeError:
                continue  # overwritten meanwhile; the next read goes on behind the gap
            head, _, text = record.partition(";")
            fields = head.split(",")
            if len(fields) > 2 and fields[2].isdigit() and int(fields[2]) >= since_us:
                seconds = int(fields[2]) / 1e6
                lines.append(f"[{seconds:12.6f}] {text.splitlines()[0] if text else ''}")
                size += len(lines[-1])
    except OSError:
        return None
    finally:
        os.close(fd)
    return lines


def _journal(since: float) -> list[str] | None:
    program = shutil.which("journalctl")
    if program is None:
        return None
    command = [program, "--dmesg", f"--since=@{int(since)}", "--output=short-iso", "--no-pager", "--quiet"]
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=10, errors="replace", check=False
        )
        # Without the right to the system's journal it ends well, and says nothing.
        if done.returncode == 0 and done.stdout.strip():
            return done.stdout.splitlines()
    return None
