"""Real processes, stuck on purpose, and what three tools say of them: py-spy, py-spy --native, faulthandler."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest

from rankandfile.evidence.tables.repeated import Repeated, frame_table, stack_table
from rankandfile.evidence.text.reading import read_stacks
from rankandfile.evidence.text.stacks.assemble import snapshot_tables
from rankandfile.evidence.text.stacks.ownership import StackPart, give_ranks
from rankandfile.evidence.text.stacks.raw import RawStacks
from support.capture.waiting import until

PYSPY = shutil.which("py-spy") or str(Path(sys.executable).with_name("py-spy"))

PRELUDE = """
import faulthandler, os, signal, sys, threading, time
faulthandler.register(signal.SIGUSR1, file=open(sys.argv[1], "w"), all_threads=True)
def ready():
    os.write(1, b"ready\\n")
"""


class Tables(NamedTuple):
    snapshots: pl.DataFrame
    files: pl.DataFrame
    stacks: pl.DataFrame
    frames: pl.DataFrame


class Capture(NamedTuple):
    program: Path
    plain: Tables
    native: Tables
    fault: Tables


def tables(*files: Path) -> Tables:
    parts = [
        StackPart(read_stacks(file, file.name).stacks or RawStacks(), str(file), number)
        for number, file in enumerate(files, 1)
    ]
    give_ranks(parts)
    repeated = Repeated()
    snapshots, listed = snapshot_tables(parts, repeated)
    return Tables(snapshots, listed, stack_table(repeated), frame_table(repeated))


def capture(folder: Path, program: str, settle: float = 0.4) -> Capture:
    """Start the program, wait until it is stuck, look at it with every tool, and end it."""
    file = folder / "program.py"
    file.write_text(PRELUDE + textwrap.dedent(program))
    fault = folder / "fault.txt"
    command = [sys.executable, str(file), str(fault)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder, start_new_session=True
    ) as process:
        try:
            assert process.stdout is not None
            if process.stdout.readline() != b"ready\n":
                pytest.skip("the program does not run here")
            until(_Settled(process.pid, settle))
            plain = _spy(folder, process.pid, "--subprocesses")
            native = _spy(folder, process.pid, "--native")
            process.send_signal(signal.SIGUSR1)
            # It writes all of it at once, wherever the program is.
            until(lambda: fault.exists() and fault.stat().st_size > 0)
            time.sleep(0.2)
        finally:
            # The program may have children of its own.
            _kill_session(process)
    return Capture(file, tables(plain), tables(native), tables(fault))


class _Settled:
    """Whether a program that said it is ready sleeps since a moment, or has computed for as long."""

    def __init__(self, pid: int, moment_s: float) -> None:
        self.file, self.moment_s = Path(f"/proc/{pid}/stat"), moment_s
        self.ready = self._looked()
        self.since = time.monotonic()

    def _looked(self) -> tuple[str, float]:
        fields = self.file.read_text().rpartition(")")[2].split()
        return fields[0], (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def __call__(self) -> bool:
        state, seconds = self._looked()
        if state not in "ST":
            self.since = time.monotonic()
        return seconds - self.ready[1] >= self.moment_s or time.monotonic() - self.since >= self.moment_s


def _kill_session(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _spy(folder: Path, pid: int, option: str) -> Path:
    run = subprocess.run(
        [PYSPY, "dump", "-p", str(pid), option], capture_output=True, timeout=300, check=False
    )
    # A child that is no Python program makes py-spy fail after the others have been printed.
    if not run.stdout:
        pytest.skip(f"py-spy cannot look into a process here: {run.stderr[:100]!r}")
    file = folder / f"spied{option}.txt"
    file.write_bytes(run.stdout)
    return file
