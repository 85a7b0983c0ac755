"""The processes of one run: start them, watch their progress, end every one of them."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from rankandfile.capture.watch.rings import look
from rankandfile.lab import virtual_hosts
from rankandfile.lab.blackbox import UNSET
from rankandfile.lab.scenario import Cut, Scenario, Strike
from rankandfile.lab.sockets import keep_sockets
from rankandfile.lab.source_tree import ScenarioError

BOOTSTRAP = Path(__file__).parent / "bootstrap"
OnLine = Callable[[int, str], None]
_POLL_S = 0.1
_START_UP = 2.5
#: A job under a command that watches it: until that command has had its say, on a busy machine.
_LONGEST = 180.0


class Ranks:
    """The running job; use it as a context manager, and nothing of it outlives the block."""

    def __init__(
        self,
        scenario: Scenario,
        src: Path,
        control: Path,
        *,
        twin: bool,
        under: Sequence[str] = (),
        traced: Sequence[tuple[str, int]] = (),
    ) -> None:
        """`under` is a command that runs the job's own, such as `raf run --`; what ranks print then goes its way.
        `traced`: files and lines of tests; which line came next, each time, is in `lines_RANK.raw` of `control`."""
        self.scenario = scenario
        self._under = under
        self._traced = traced
        self.rings = control / "rings"
        self.control = control
        self.src = src
        self.twin = twin
        self._kept: list[int] = []
        self._parent: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Ranks:
        s = self.scenario
        port = str(free_port())
        rank_env = [
            {
                "RANK": str(r),
                "LOCAL_RANK": "0" if s.cuts else str(r),
                "WORLD_SIZE": str(s.world_size),
                "MASTER_PORT": port,
            }
            for r in range(s.world_size)
        ]
        network = virtual_hosts.environment() if s.cuts else {}
        plan = {
            "world_size": s.world_size,
            "src": str(self.src),
            "runner": os.getpid(),
            "preload": s.preload,
            "env": {"MASTER_ADDR": "127.0.0.1", "LOCAL_WORLD_SIZE": str(s.world_size), **network, **s.env},
            "rank_env": rank_env,
            "virtual_hosts": bool(s.cuts),
            "tcp_retries": s.tcp_retries,
            "no_dump": s.evidence.no_dump if not self.twin else (),
            "dump_at_exit": self.twin or s.evidence.dump_at_exit,
            "park_aborts": s.park_aborts and not self.twin,
            "hold_sockets": s.hold_sockets and not self.twin,
            "watched": bool(self._under),
            "traced": list(self._traced),
        }
        (self.control / "plan.json").write_text(json.dumps(plan))
        with (self.control / "launcher.log").open("wb") as log:
            self._parent = subprocess.Popen(
                [*self._command(), sys.executable, *s.command, *s.args],
                cwd=self.src,
                env=_environment() | (self._told(plan) if self._under else {}),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        return self

    def _told(self, plan: dict[str, Any]) -> dict[str, str]:
        """What a launcher tells a rank: it stands in the process's environment, for all to see."""
        world = {"WORLD_SIZE": str(self.scenario.world_size), "RANK": UNSET, "RAF_RING_DIR": str(self.rings)}
        return {**plan["env"], **world}

    def _command(self) -> list[str]:
        """What goes in front; the first Python behind it becomes the ranks."""
        return [*self._under, "env", f"RAF_LAB_CONTROL={self.control}"]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for fd in self._kept:
            os.close(fd)
        self._kept.clear()
        parent = self._parent
        if parent is None:
            return
        # The first process goes first: it could still be forking.
        _kill_group(parent.pid)
        parent.wait()
        for pid in self.pids().values():
            _kill_group(pid)
        deadline = time.monotonic() + 5
        while left := [pid for pid in self.pids().values() if _group_alive(pid)]:
            if time.monotonic() > deadline:
                raise ScenarioError(f"{self.scenario.name}: process groups {left} did not end")
            time.sleep(0.02)

    @property
    def over(self) -> bool:
        """The command has ended, and so has whatever it was run under."""
        return self._parent is None or self._parent.poll() is not None

    def pids(self) -> dict[int, int]:
        """Process id of each rank started so far."""
        out = {}
        for rank in range(self.scenario.world_size):
            path = self.control / f"pid_{rank}"
            if path.exists() and (text := path.read_text()):
                out[rank] = int(text)
        return out

    def exits(self) -> dict[int, int]:
        """Exit code of each rank that has ended; negative for a signal."""
        out = {}
        for rank in range(self.scenario.world_size):
            path = self.control / f"exit_{rank}"
            if path.exists():
                out[rank] = int(path.read_text())
        return out

    def calls(self, rank: int) -> int:
        """How many calls the rank has made, by the call log, or by the recorder's ring where that is in its place."""
        if self._under:
            rings = (one for run in self.rings.glob("run-*") for one in look(run) if one.rank == rank)
            return max((one.calls for one in rings), default=0)
        path = self.control / f"calls_{rank}.raw"
        return path.read_bytes().count(b'"kind": "call"') if path.exists() else 0

    def watch(self, on_line: OnLine | None = None, until: Callable[[Ranks], bool] | None = None) -> str:
        """Wait until the job is over ("finished") or nothing has moved for the scenario's stall time ("stuck").

        Where `until` comes true first, the outcome is "ended". Whether a job under another command is stuck is for
        that command to say.
        """
        heard = [0] * self.scenario.world_size
        s = self.scenario
        limit = _LONGEST if self._under else s.limit_s
        end = time.monotonic() + limit
        strikes = list(s.strikes) if not self.twin else []
        cuts = list(s.cuts) if not self.twin else []
        last, last_change = self._progress(), time.monotonic()
        while time.monotonic() < end:
            time.sleep(_POLL_S)
            self._check_parent()
            strikes = [strike for strike in strikes if not self._strike(strike)]
            cuts = [cut for cut in cuts if not self._cut(cut)]
            if on_line:
                self._tell(heard, on_line)
            now = self._progress()
            if now != last:
                last, last_change = now, time.monotonic()
            if len(self.exits()) == s.world_size:
                return "finished"
            if until and until(self):
                return "ended"
            started = len(self.pids()) == s.world_size
            # Before the first call a rank still imports and builds its model, which takes long on a busy machine.
            patience = s.stall_s if all(self.calls(r) for r in self.pids()) else _START_UP * s.stall_s
            if started and not self._under and time.monotonic() - last_change > patience:
                return "stuck"
        raise ScenarioError(f"{s.name}: neither stuck nor finished after {limit:.0f} s")

    def _tell(self, heard: list[int], on_line: OnLine) -> None:
        """Hand on the lines that the ranks have finished since; `heard` is how far each log was read."""
        for rank, offset in enumerate(heard):
            path = self.control / f"rank_{rank}.log"
            if not path.exists() or path.stat().st_size == offset:
                continue
            with path.open("rb") as file:
                file.seek(offset)
                whole = file.read().rpartition(b"\n")[0]
            heard[rank] += len(whole) + bool(whole)
            for line in whole.splitlines():
                on_line(rank, line.decode("utf-8", "replace"))

    def _progress(self) -> tuple[int, ...]:
        ranks = range(self.scenario.world_size)
        files = [self.control / f"calls_{r}.raw" for r in ranks] + [self.control / f"exit_{r}" for r in ranks]
        files += [self.control / f"rank_{r}.log" for r in ranks]
        return tuple(f.stat().st_size if f.exists() else -1 for f in files)

    def _strike(self, strike: Strike) -> bool:
        """Send the signal once the rank is far enough; true when nothing is left to do."""
        if strike.rank in self.exits():
            return True
        if self.calls(strike.rank) < strike.after_calls:
            return False
        pid = self.pids()[strike.rank]
        if self.scenario.hold_sockets:
            os.kill(pid, signal.SIGSTOP)
            self._kept.extend(keep_sockets(pid))
        os.kill(pid, getattr(signal, strike.signal))
        if strike.signal not in ("SIGSTOP", "SIGKILL"):
            os.kill(pid, signal.SIGCONT)
        return True

    def _cut(self, cut: Cut) -> bool:
        """Take the links down once the rank is far enough; true when nothing is left to do."""
        if self.calls(cut.rank) < cut.after_calls:
            return False
        virtual_hosts.take_down(int((self.control / "launcher").read_text()), cut.links)
        return True

    def _check_parent(self) -> None:
        parent = self._parent
        if not self._under and parent is not None and parent.poll() not in (None, 0):
            log = (self.control / "launcher.log").read_text(errors="replace")
            raise ScenarioError(f"{self.scenario.name}: the ranks could not be started: {log[-2000:]}")


def _environment() -> dict[str, str]:
    keep = ("PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV", "LD_LIBRARY_PATH")
    env = {k: os.environ[k] for k in keep if k in os.environ}
    return env | {
        "PYTHONPATH": str(BOOTSTRAP),
        "OMP_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "GLOO_SOCKET_IFNAME": "lo",
        "TORCH_FR_BUFFER_SIZE": "2000",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def free_port() -> int:
    """A port that nobody listens on, below those that the system gives to calls that go out: one of these may have
    taken it before it is used."""
    while True:
        port = random.randrange(10_000, 32_000)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def _group_alive(pid: int) -> bool:
    """Zombies that nobody has reaped yet do not count: they hold nothing."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _parent, group = stat.read_text().rpartition(")")[2].split()[:3]
            if int(group) == pid and state not in "ZX":
                return True
    return False
