"""Processes as the kernel shows them in /proc: who is alive, whose child, and how it ended."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import signal
import time
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

#: An address of the host itself, in /proc/PID/net/fib_trie.
_LOCAL = re.compile(r"\|-- ([\d.]+)\n\s+/32 host LOCAL")
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


class Status(NamedTuple):
    """A process, from /proc/PID/stat."""

    state: str
    parent: int
    started: int
    """In the kernel's ticks since boot: with the pid, an identity."""
    wait_status: int
    """As `waitpid` gives it; of a zombie, and only where we may see it."""


def status(pid: int) -> Status | None:
    """None for a process that is gone."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return Status(words[0], int(words[1]), int(words[19]), int(words[49]))
    except (OSError, ValueError, IndexError):
        return None


def environment(pid: int) -> dict[str, str]:
    """As the process was started with; empty where we may not see it."""
    try:
        words = Path(f"/proc/{pid}/environ").read_bytes().decode("utf-8", "surrogateescape").split("\0")
    except OSError:
        return {}
    return dict(word.split("=", 1) for word in words if "=" in word)


def unreached(pid: int, environment: Mapping[str, str]) -> str:
    """Why the recorder cannot have come into this process of a watched job; empty where nothing stands against it."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return ""
    if not words[0].rpartition("/")[2].startswith("python"):
        return ""
    for word in words[1:]:
        if not word.startswith("-") or word in ("-", "--") or word[:2] in ("-c", "-m"):
            break
        if not word.startswith("--") and (
            found := set("IES") & set(word[1:].partition("W")[0].partition("X")[0])
        ):
            return f"Python was started with -{min(found)}, which keeps the recorder out"
    if "RAF_RUN" not in environment and (environment or _is_cleared(pid)):
        return "Python was started without the variables of the job's environment that bring the recorder in"
    return ""


def _is_cleared(pid: int) -> bool:
    """The environment can be seen, and there is nothing in it."""
    try:
        return not Path(f"/proc/{pid}/environ").read_bytes().strip(b"\0")
    except OSError:
        return False


def alive(pid: int, started: int) -> bool:
    """Whether the very process runs: its number may be another's by now."""
    found = status(pid)
    return found is not None and found.state not in "ZX" and found.started == started


#: Helpers that Python starts by itself.
_HELPER = re.compile(rb"multiprocessing\.(resource_tracker|semaphore_tracker|forkserver)")


def is_python(pid: int) -> bool:
    """It runs Python, and for the program."""
    try:
        name = Path(f"/proc/{pid}/exe").readlink().name
        return "python" in name and not _HELPER.search(Path(f"/proc/{pid}/cmdline").read_bytes())
    except OSError:
        return False


def stopped(pid: int) -> bool:
    """By a signal, as SIGSTOP or Ctrl-Z send: it runs nothing until another one lets it go on."""
    found = status(pid)
    # Not `t`: whoever looks at its stack stops it for a moment, too.
    return found is not None and found.state == "T"


@lru_cache(maxsize=4096)
def own_address(pid: int, started: int) -> str:
    """Of a process in a network of its own, as in a container; empty for one that shares ours, and where nothing tells.

    What was seen while it lived stands when it is gone.
    """
    try:
        if not alive(pid, started):
            return ""
        if Path(f"/proc/{pid}/ns/net").readlink() == Path("/proc/self/ns/net").readlink():
            return ""
        routes = Path(f"/proc/{pid}/net/fib_trie").read_text()
    except OSError:
        return ""
    return next((word for word in _LOCAL.findall(routes) if not word.startswith("127.")), "")


def descendants(root: int) -> list[int]:
    """Every living process below `root`, parents before children."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (found := status(int(entry.name))) and found.state not in "ZX":
            children.setdefault(found.parent, []).append(int(entry.name))
    out: list[int] = []
    next_ones = [root]
    while next_ones:
        pid = next_ones.pop()
        out.extend(children.get(pid, ()))
        next_ones.extend(children.get(pid, ()))
    return out


def adopt_orphans() -> bool:
    """Become the parent of whatever is left below this process; false where the system has no such thing."""
    try:
        return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def end_with_parent() -> None:
    """To be called in a child: a watcher that is killed does not leave its job alone with broken pipes."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def send(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def write_on(pid: int, text: str) -> None:
    """On the stream on which a process says its errors, wherever that goes; whoever does not read it gets nothing."""
    with contextlib.suppress(OSError):
        fd = os.open(f"/proc/{pid}/fd/2", os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            os.write(fd, text.encode("utf-8", "replace"))
        finally:
            os.close(fd)


def end_all_below(root: int, patience_s: float) -> None:
    """SIGTERM, then SIGKILL, until nothing is left below `root`; how they ended is for others to ask."""
    send(descendants(root), signal.SIGTERM)
    end = time.monotonic() + patience_s
    while descendants(root) and time.monotonic() < end:
        time.sleep(0.05)
    end = time.monotonic() + 5
    while (left := descendants(root)) and time.monotonic() < end:
        send(left, signal.SIGKILL)
        time.sleep(0.05)


def reap(wanted: Collection[int]) -> dict[int, int]:
    """Exit codes of these children where they have ended, negative for a signal. Others are waited for by others."""
    found = {}
    for pid in _children() & set(wanted):
        with contextlib.suppress(ChildProcessError):
            ended, told = os.waitpid(pid, os.WNOHANG)
            if ended:
                found[pid] = os.waitstatus_to_exitcode(told)
    return found


def _children() -> set[int]:
    found: set[int] = set()
    for task in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError, ValueError):
            found.update(map(int, task.read_text().split()))
    return found
