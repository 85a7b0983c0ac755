"""The source of a program that runs on this machine, where nobody has named it and no recorder kept a copy."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

from rankandfile.capture.watch.processes import status

#: A folder with more in it is somebody's home, or a disk: no program's own.
_MOST_ENTRIES = 20_000
_NOT_ITS_OWN = ("site-packages", "dist-packages")


def source_of(pids: Iterable[int]) -> Path | None:
    """The folder of the program that one of these processes runs; None where it is not there as it was started."""
    for pid in pids:
        program = _program(pid)
        if program is not None and _is_older(program, pid) and _is_small(program.parent):
            return program.parent
    return None


def _program(pid: int) -> Path | None:
    """`train.py` of `python -u train.py`, as this process finds it; of a container's other disk nothing."""
    proc = Path(f"/proc/{pid}")
    try:
        if (proc / "root").readlink() != Path("/").resolve():
            return None
        words = (proc / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
        here = (proc / "cwd").readlink()
    except OSError:
        return None
    named = next((word for word in words[1:] if word.endswith(".py")), None)
    path = here / named if named is not None else None
    return path if path is not None and path.is_file() and not {*_NOT_ITS_OWN} & {*path.parts} else None


def _is_older(program: Path, pid: int) -> bool:
    """Whoever has changed it since runs something else than what stands there."""
    now = status(pid)
    if now is None:
        return False
    try:
        up = float(Path("/proc/uptime").read_text(encoding="ascii").split()[0])
        ticks = os.sysconf("SC_CLK_TCK")
        return program.stat().st_mtime <= time.time() - up + now.started / ticks + 1
    except (OSError, ValueError):
        return False


def _is_small(folder: Path) -> bool:
    seen = 0
    for _, folders, files in os.walk(folder):
        seen += len(folders) + len(files)
        if seen > _MOST_ENTRIES:
            return False
    return True
