"""One run of a person's command in a folder: with a deadline, its output kept, nothing of it left behind."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import IO

import msgspec

from .descendants import ended_with_it

_MOST_OUTPUT = 16 << 20
_GRACE_S = 8.0
#: Of the disk that the command runs on: what stays free, the most that it may take, and how often that is looked at.
KEPT_FREE, MOST_TAKEN = 512 << 20, 16 << 30
_LOOK_S = 0.1
_TAIL = 4_000


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    status: int | None
    """Exit status; null: it was ended when its time was up."""
    seconds: float
    log: str
    """File with all it printed, up to 16 MiB."""
    tail: str
    filled_disk: bool = False
    """It was ended for that."""

    @property
    def passed(self) -> bool:
        return self.status == 0

    def __str__(self) -> str:
        how = "did not end in time" if self.status is None else f"ended with status {self.status}"
        how = "was ended, as it filled the disk" if self.filled_disk else how
        return f"{how}, {self.seconds:.1f} s"


def tried(command: str, folder: Path, instead_of: Path, log: Path, timeout: float) -> Trial:
    """`{src}` in the command, and paths below `instead_of` in PYTHONPATH, are the folder's."""
    words = command.replace("{src}", shlex.quote(str(folder)))
    began = time.monotonic()
    # Also where nobody is left to look, no file of it grows without end. A block has 512 bytes, or twice that.
    bounded = f"ulimit -f {MOST_TAKEN // 512} 2>/dev/null; {words}"
    status, filled = None, False
    with ended_with_it():
        process = subprocess.Popen(
            ["/bin/sh", "-c", bounded],
            cwd=folder,
            env=_environment(folder, instead_of.resolve()),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert process.stdout is not None
        reader = threading.Thread(target=_keep, args=(process.stdout, log), daemon=True)
        reader.start()
        try:
            status, filled = _wait(process, folder, timeout)
            if status is None and not filled:
                _signal_group(process.pid, signal.SIGTERM)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_GRACE_S)
        finally:
            _signal_group(process.pid, signal.SIGKILL)
            process.wait()
    seconds = time.monotonic() - began
    reader.join(_GRACE_S)
    tail = log.read_bytes()[-_TAIL:].decode("utf-8", "replace") if log.exists() else ""
    return Trial(status=status, seconds=round(seconds, 1), log=str(log), tail=tail, filled_disk=filled)


def _wait(process: subprocess.Popen[bytes], folder: Path, timeout: float) -> tuple[int | None, bool]:
    """Its status, None where its time is up first; and whether it is to end for want of room on the disk."""
    end = time.monotonic() + timeout
    free = shutil.disk_usage(folder).free
    # Where there is little from the start, it may take half of it.
    least = max(min(KEPT_FREE, free // 2), free - MOST_TAKEN)
    while (left := end - time.monotonic()) > 0:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(min(_LOOK_S, left)), False
        if shutil.disk_usage(folder).free < least:
            return None, True
    return None, False


def _environment(folder: Path, tree: Path) -> dict[str, str]:
    env = dict(os.environ)
    paths = [Path(one) for one in env.get("PYTHONPATH", "").split(os.pathsep) if one]
    turned = [
        folder / path.resolve().relative_to(tree) if path.resolve().is_relative_to(tree) else path
        for path in paths
    ]
    if turned:
        env["PYTHONPATH"] = os.pathsep.join(map(str, turned))
    return env


def _keep(stream: IO[bytes], log: Path) -> None:
    """All of it is read, so that nobody waits for a full pipe; not all of it is kept, of a full disk the less."""
    room = _MOST_OUTPUT
    with log.open("wb", buffering=0) as file:
        while chunk := os.read(stream.fileno(), 1 << 16):
            with contextlib.suppress(OSError):
                file.write(chunk[:room])
            room -= min(room, len(chunk))


def _signal_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(OSError):
        os.killpg(group, number)
