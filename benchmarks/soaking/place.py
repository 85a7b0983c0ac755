"""Where one job of the soak runs, with `raf run` in front of it or without: started, disturbed, and looked at."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from soaking.plans import Plan

JOB = Path(__file__).with_name("job.py")
#: Whatever the machine is busy with, a job of the soak has ended by then.
LONG_S = 400.0
STOPPED_S = 8.0
FILE_LIMIT = 256 << 10


@dataclass
class Outcome:
    code: int
    lines: list[str]
    """What the job wrote to its output, sorted: ranks write as they come."""
    made: list[str]
    """Files that the job has made for itself."""
    said: str
    left_files: list[str] = field(default_factory=list)
    left_processes: list[str] = field(default_factory=list)
    rings: list[bytes] = field(default_factory=list)
    """Those that lay in shared memory right after a watcher was killed."""
    seconds: float = 0.0


class Place:
    """One folder, one part of shared memory, one folder for temporary files: used up by one run."""

    def __init__(self, folder: Path, plan: Plan, clock: Path, mounted: bool) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self.folder, self.plan, self._mounted = folder, plan, mounted
        self.job, self.temporary = folder / "job", folder / "tmp"
        self.case = (self.temporary if "disk full" in plan.around else folder) / "case"
        self.shared = Path("/dev/shm") if mounted else folder / "shm"
        for one in (self.job, self.temporary, *([] if mounted else [self.shared])):
            one.mkdir(parents=True)
        if mounted:
            _mount(self.temporary, "96m")
        self._mark = f"{os.getpid()}-{time.monotonic_ns()}"
        self._env = {
            **{
                name: value
                for name, value in os.environ.items()
                if not name.startswith(("RAF", "TORCHELASTIC"))
            },
            "SOAK_MARK": self._mark,
            "TMPDIR": str(self.temporary),
            "OMP_NUM_THREADS": "1",
            "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",
            "PYTHONWARNINGS": "ignore",
        }
        if not mounted:
            self._env["RAF_RING_DIR"] = str(self.shared)
        self._clock = folder / "clock"
        self._clock.write_bytes(struct.pack("q", 0))
        if plan.clock_s:
            self._env |= {"LD_PRELOAD": str(clock), "SOAK_CLOCK": str(self._clock)}

    def run(self, watched: bool) -> Outcome:
        """The job once. A watcher that is killed is started again, with the job as it would be without the kill."""
        began = time.monotonic()
        before = self._files()
        full = [self._fill()] if "full from the start" in self.plan.around else []
        process = self._start(watched)
        try:
            self._disturb(process, watched, full)
            code = self._wait(process)
        finally:
            for filler in full:
                filler.unlink(missing_ok=True)
        outcome = Outcome(code, self._lines(), self._made(), self._said())
        if self.plan.around == "raf killed and restarted" and watched:
            self._gone()
            outcome.rings = [path.read_bytes() for path in self.shared.rglob("*.ring")]
            self._again(outcome)
        outcome.left_processes = self._gone()
        # A second incident of one run has a case beside the first.
        kept = str(self.case)
        outcome.left_files = sorted(one for one in self._files() - before if not one.startswith(kept))
        outcome.seconds = time.monotonic() - began
        return outcome

    def close(self) -> None:
        if self._mounted:
            subprocess.run(["umount", "-l", str(self.temporary)], check=False)
        for one in self.shared.glob("raf-*"):
            shutil.rmtree(one, ignore_errors=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self, watched: bool) -> subprocess.Popen[bytes]:
        command = [sys.executable, str(JOB), str(self.plan.write(self.job))]
        if self.plan.torchrun:
            run = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(self.plan.world)]
            command[1:1] = [*run, "--max-restarts", str(self.plan.restarts)]
        raf = [sys.executable, "-m", "rankandfile", "run", "--stall", "3", "--out", str(self.case), "--"]
        limit = "file" in self.plan.around and "limited" in self.plan.around
        with (self.folder / "out").open("ab") as out, (self.folder / "err").open("ab") as err:
            return subprocess.Popen(
                [*raf, *command] if watched else command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=self.folder,
                env=self._env,
                start_new_session=True,
                preexec_fn=_limit_files if limit else None,
            )

    def _disturb(self, process: subprocess.Popen[bytes], watched: bool, full: list[Path]) -> None:
        """What is to happen while all ranks stand at the gate; then they go on."""
        around, ranks = self.plan.around, range(self.plan.world)
        until(
            lambda: (
                process.poll() is not None or all((self.job / f"at_gate_{rank}").exists() for rank in ranks)
            ),
            LONG_S,
        )
        if around == "raf killed and restarted" and watched:
            os.kill(process.pid, signal.SIGKILL)
            return
        if around == "raf told to end (SIGTERM)":
            os.kill(process.pid, signal.SIGTERM)
            return
        if around == "raf interrupted (SIGINT)":
            os.kill(process.pid, signal.SIGINT)
            return
        if around == "raf stopped for a while" and watched:
            os.kill(process.pid, signal.SIGSTOP)
            time.sleep(STOPPED_S / 2)
            os.kill(process.pid, signal.SIGCONT)
        elif around == "a rank stopped for a while":
            last = self._rank(self.plan.world - 1)
            os.kill(last, signal.SIGSTOP)
            (self.job / "go").touch()
            time.sleep(STOPPED_S)
            os.kill(last, signal.SIGCONT)
        elif around.endswith("full while it runs"):
            full.append(self._fill())
        elif around == "the clock steps":
            self._clock.write_bytes(struct.pack("q", self.plan.clock_s))
        elif around == "rings removed while it runs":
            for one in self.shared.glob("raf-*" if self._mounted else "*"):
                shutil.rmtree(one, ignore_errors=True)
        (self.job / "go").touch()

    def _again(self, outcome: Outcome) -> None:
        """Start the job anew, watched, and let nothing happen to it."""
        for name in ("out", "err"):
            (self.folder / name).unlink()
        shutil.rmtree(self.job)
        self.job.mkdir()
        process = self._start(watched=True)
        (self.job / "go").touch()
        outcome.code = self._wait(process)
        outcome.lines, outcome.made = self._lines(), self._made()
        outcome.said += self._said()

    def _fill(self) -> Path:
        """Take all the space there is."""
        where = self.shared if self.plan.around.startswith("/dev/shm") else self.temporary
        filler = where / "filler"
        with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while file.write(bytes(1 << 16)):
                pass
        return filler

    def _wait(self, process: subprocess.Popen[bytes]) -> int:
        try:
            code = process.wait(LONG_S)
        except subprocess.TimeoutExpired:
            for pid in self._pids():
                os.kill(pid, signal.SIGKILL)
            code = -1000
        return code if code >= 0 else 128 - code

    def _rank(self, rank: int) -> int:
        return int((self.job / f"at_gate_{rank}").read_text())

    def _lines(self) -> list[str]:
        return sorted((self.folder / "out").read_text(errors="replace").splitlines())

    def _said(self) -> str:
        return (self.folder / "err").read_text(errors="replace")

    def _made(self) -> list[str]:
        return sorted(path.name for path in self.job.iterdir())

    def _files(self) -> set[str]:
        found = set()
        for top in (self.shared, self.temporary):
            found |= {str(path) for path in top.rglob("*")}
        # The folder of a user's rings stays: it belongs to all of this user's runs.
        return {one for one in found if one != str(self.shared / f"raf-{os.getuid()}")}

    def _pids(self) -> list[int]:
        mark = f"SOAK_MARK={self._mark}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
        return found

    def _gone(self) -> list[str]:
        """Who of the run lives a while after its end."""
        until(lambda: not self._pids(), 15, True)
        left = []
        for pid in self._pids():
            with contextlib.suppress(OSError):
                left.append(
                    Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                )
                os.kill(pid, signal.SIGKILL)
        return left


def until(true: Callable[[], object], seconds: float, gives_up: bool = False) -> None:
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            if gives_up:
                return
            raise TimeoutError(f"not within {seconds:.0f} s")
        time.sleep(0.05)


def private_mounts() -> bool:
    """Give this process a /dev/shm of its own, where the system allows it."""
    newns, private = 0x00020000, (1 << 18) | 16384
    libc = ctypes.CDLL(None, use_errno=True)
    if os.getuid() != 0 or libc.unshare(newns) != 0 or libc.mount(b"none", b"/", None, private, None) != 0:
        return False
    return _mount(Path("/dev/shm"), "96m")


def _mount(where: Path, size: str) -> bool:
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "soak", str(where)], check=False)
    return done.returncode == 0


def _limit_files() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT, FILE_LIMIT))
