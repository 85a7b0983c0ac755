"""The actor beside one rank: starts its script, looks at it, gathers what it leaves, and ends it.

It subclasses Monarch's own SPMD actor, which tells a rank what torchrun would. The script runs in a process below the
actor's and not in a thread of it: it has a main thread of its own, as it expects, and whatever it hangs in, with
Python's lock or without, the actor answers.
"""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from monarch.actor import endpoint
from monarch.spmd import SPMDActor

from rankandfile.capture.control import hosts
from rankandfile.capture.control.reaper import Reaper
from rankandfile.capture.gather import files, stacks
from rankandfile.capture.launch.environment import folder_for_rings, job_environment
from rankandfile.capture.watch.rings import Seen, look, without_ring
from rankandfile.own_python import own_python

#: Between two looks at the stacks: what is the same in both stands still.
APART_S = 1.0
#: For a rank that is told to end, before it is killed.
END_S = 5.0
#: Without a word from a controller on another machine, which asks several times a second.
LEFT_S = 120.0
#: Of a stream, at a time.
MOST_OUTPUT = 1 << 20

#: Becomes the script's process, which ends with the actor's: the kernel sees to it, and the reaper to what it started.
_BELOW = "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 9); os.execvp(sys.argv[1], sys.argv[1:])"


@dataclass(frozen=True)
class Sight:
    """One rank, as its actor sees it now."""

    seen: Seen
    code: int | None
    """How its process ended; negative for a signal, None while it runs."""
    output: bytes = b""
    """What it wrote since the last look, or the beginning of that: asked again, there is more."""
    errors: bytes = b""

    @property
    def wrote(self) -> bool:
        return bool(self.output or self.errors)


class _Stream:
    """One of the script's, kept in a file and told from there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._told = 0
        self._end: int | None = None

    def untold(self, over: bool) -> bytes:
        """`over`: the script has ended; what others write there from then on is no output of the rank's."""
        with self.path.open("rb") as file:
            if over and self._end is None:
                self._end = file.seek(0, os.SEEK_END)
            file.seek(self._told)
            most = MOST_OUTPUT if self._end is None else min(MOST_OUTPUT, self._end - self._told)
            found = file.read(most)
        self._told += len(found)
        return found


def logs_of(work: Path, rank: int) -> tuple[Path, Path]:
    """What a rank wrote, and its errors, in the folder of its actor."""
    return work / f"rank_{rank}.stdout.log", work / f"rank_{rank}.stderr.log"


class RankActor(SPMDActor):  # type: ignore[misc,untyped-decorator,unused-ignore]
    def __init__(self, work: Path | None) -> None:
        """`work` is the job's folder, where the controller is on this host too."""
        super().__init__()
        self._work = work / str(self.rank) if work is not None else Path(hosts.work_folder(self.rank))
        self._work.mkdir(mode=0o700, exist_ok=True)
        self._rings = folder_for_rings(os.environ)
        self._output, self._errors = (_Stream(path) for path in logs_of(self._work, self.rank))
        self._process: subprocess.Popen[bytes] | None = None
        self._heard = time.monotonic()
        self._left_s = LEFT_S if work is None else math.inf
        # A controller on this host reads what an actor leaves that is killed.
        reader = os.getppid() if work is not None else None
        self._reaper = Reaper(reader, [self._rings, self._work])
        threading.Thread(target=self._end_if_left, name="raf-left", daemon=True).start()

    def _end_if_left(self) -> None:
        """A worker that is killed leaves its ranks behind, and a controller that is gone says no farewell to another
        machine: they would run on for ever."""
        parent = os.getppid()
        while os.getppid() == parent and time.monotonic() - self._heard < self._left_s:
            time.sleep(1.0)
        self._end()
        os._exit(1)

    @endpoint  # type: ignore[misc,untyped-decorator,unused-ignore]
    def begin(self, address: str, port: int, script: Sequence[str], attempt: int, plan: str) -> int:
        """Start the script with this host's Python; returns its process."""
        self._heard = time.monotonic()
        self._setup_env(address, port)
        (self._work / "dumps").mkdir(exist_ok=True)
        env = job_environment(os.environ, self._rings, self._work / "dumps", os.getpid(), plan)
        env |= {"TORCHELASTIC_RESTART_COUNT": str(attempt), "PYTHONUNBUFFERED": "1"}
        env.setdefault("OMP_NUM_THREADS", "1")
        # Monarch's own settings are for its processes.
        env = {name: value for name, value in env.items() if not name.startswith(("HYPERACTOR_", "MONARCH_"))}
        with self._output.path.open("wb") as output, self._errors.path.open("wb") as errors:
            self._process = subprocess.Popen(
                [*own_python(_BELOW), sys.executable, *script],
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )
        self._reaper.begun(self._process.pid)
        return self._process.pid

    @endpoint  # type: ignore[misc,untyped-decorator,unused-ignore]
    def look(self) -> Sight:
        self._heard = time.monotonic()
        sight = self._look()
        over = sight.code is not None
        return replace(sight, output=self._output.untold(over), errors=self._errors.untold(over))

    def _look(self) -> Sight:
        process = self._process
        assert process is not None
        code = process.poll()
        seen = next((one for one in look(self._rings) if one.pid == process.pid), None)
        seen = seen or without_ring(process.pid, self.rank)
        return Sight(seen._replace(rank=self.rank, lives=code is None), code)

    @endpoint  # type: ignore[misc,untyped-decorator,unused-ignore]
    def evidence(self, with_stacks: bool) -> list[tuple[str, bytes]]:
        """What the rank leaves, as files: their names below `evidence/`, and their content."""
        self._heard = time.monotonic()
        sight = self._look()
        folder = Path(tempfile.mkdtemp(prefix="evidence-", dir=self._work))
        if with_stacks and sight.code is None:
            name = {f"rank_{self.rank}": sight.seen.pid}
            stacks.take(name, folder / "stacks")
            time.sleep(APART_S)
            stacks.take(name, folder / "stacks", "_later")
            stacks.take(name, folder / "stacks", native=True)
        if sight.seen.path.exists():
            files.rings([sight.seen], folder / "rings")
        files.logs([self._output.path, self._errors.path], folder / "logs")
        files.dumps(self._work / "dumps", folder / "dumps")
        found = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        return [(path.relative_to(folder).as_posix(), path.read_bytes()) for path in found]

    @endpoint  # type: ignore[misc,untyped-decorator,unused-ignore]
    def end(self) -> None:
        """End the script and what it started, and leave nothing behind."""
        self._end()

    def _end(self) -> None:
        process = self._process
        if process is not None:
            for how, patience in ((signal.SIGTERM, END_S), (signal.SIGKILL, None)):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, how)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(patience)
                    if how == signal.SIGKILL:
                        break
        for folder in (self._rings, self._work):
            shutil.rmtree(folder, ignore_errors=True)
        self._reaper.farewell()
