"""Stacks of other processes by py-spy, which needs no help of theirs: they may hold Python's lock."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterable, Mapping
from pathlib import Path

from rankandfile.capture.watch.processes import descendants, stopped

#: A process of many threads on a busy machine; native stacks read symbols first.
ANSWER_S, NATIVE_S = 20.0, 40.0
#: The file in which a data-loading process is at home, and how many of them are looked at, per rank.
LOADER, MOST_LOADERS = "torch/utils/data/_utils/worker.py", 8


def program() -> str | None:
    """Where py-spy is; beside this Python, or on PATH."""
    beside = Path(sysconfig.get_path("scripts")) / "py-spy"
    return str(beside) if beside.exists() else shutil.which("py-spy")


def take(processes: Mapping[str, int], folder: Path, ending: str = "", native: bool = False) -> list[str]:
    """Write one file per process, named after the keys (`rank_3`); returns why there is none where there is none.

    Of a process that a signal has stopped, no native stack is taken: that would disturb it, and let it run for a while.
    """
    py_spy = program()
    if py_spy is None:
        return ["no stacks: py-spy is not installed (pip install py-spy)"]
    folder.mkdir(parents=True, exist_ok=True)
    running = {}
    for name, pid in processes.items():
        frozen = stopped(pid)
        if frozen and native:
            continue
        how = ["--native"] if native else ["--json", *(["--nonblocking"] if frozen else [])]
        command = [py_spy, "dump", "--pid", str(pid), *how]
        target = folder / (f"pyspy_native_{name}{ending}.txt" if native else f"pyspy_{name}{ending}.json")
        running[name] = _start(command), target, pid
    notes: list[str] = []
    for name, (started, target, pid) in running.items():
        why = (
            started
            if isinstance(started, str)
            else _finish(started, target, NATIVE_S if native else ANSWER_S)
        )
        if why:
            notes.append(
                f"no {'native ' if native else ''}stack of {name.replace('_', ' ')}: {denied(pid) or why}"
            )
    return notes


def of_loaders(ranks: Iterable[int], folder: Path) -> None:
    """The same of the data-loading processes of these: what a rank waits for may be what one of them does."""
    parents = {
        child: pid
        for pid in ranks
        for child in [one for one in descendants(pid) if "python" in _program_of(one)][:MOST_LOADERS]
    }
    take({f"pid_{child}": child for child in parents}, folder)
    for child, parent in parents.items():
        path = folder / f"pyspy_pid_{child}.json"
        with contextlib.suppress(OSError, ValueError):
            text = path.read_text()
            if LOADER not in text:
                path.unlink()
                continue
            threads = json.loads(text)
            for thread in threads:
                thread["process_info"] = {"pid": child, "parent": {"pid": parent}}
            path.write_text(json.dumps(threads))


def _program_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/exe").readlink().name
    except OSError:
        return ""


def _start(command: list[str]) -> subprocess.Popen[bytes] | str:
    try:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    except OSError as error:
        return f"py-spy does not start: {error.strerror or error}"


def _finish(process: subprocess.Popen[bytes], target: Path, seconds: float) -> str:
    """Empty if the stack is in the file, else why it is not."""
    try:
        out, told = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return f"py-spy gave no answer for {seconds:.0f} s"
    if process.returncode != 0 or not out:
        return (
            " ".join(told.decode("utf-8", "replace").split())[:200]
            or f"py-spy ended with {process.returncode}"
        )
    target.write_bytes(out)
    return ""


def denied(pid: int) -> str:
    """Why nobody may look into the process, such as which permission is lacking; empty where nothing tells."""
    try:
        owner = Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        return "the process is gone"
    if stopped(pid):
        return f"the process was stopped by a signal (kill -CONT {pid} lets it go on)"
    if os.geteuid() != 0 and owner != os.geteuid():
        return f"it belongs to user {owner}: run as that user or as root"
    if _traceable(pid):
        return ""
    scope = _read("/proc/sys/kernel/yama/ptrace_scope").strip()
    if scope not in ("", "0"):
        return (
            f"/proc/sys/kernel/yama/ptrace_scope is {scope}: needs CAP_SYS_PTRACE or root, or 0 in that file"
        )
    return "needs CAP_SYS_PTRACE (in a container: docker run --cap-add SYS_PTRACE)"


def _traceable(pid: int) -> bool:
    """The kernel asks for the same right to read a process's memory as py-spy needs."""
    try:
        with Path(f"/proc/{pid}/mem").open("rb"):
            return True
    except OSError:
        return False


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""
