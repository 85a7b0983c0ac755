"""The recorder of this process: opened at the start, closed at the end, and left to the parent by a fork."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankandfile.runtime.recorder import stacks, tables
from rankandfile.runtime.recorder.completion import Completion
from rankandfile.runtime.recorder.recorder import Recorder
from rankandfile.runtime.recorder.ring import Ring, started
from rankandfile.runtime.recorder.sources import Sources
from rankandfile.wire import layout, places

if TYPE_CHECKING:
    from rankandfile.runtime.plan.gate import Gate

#: Rings of processes that are gone are removed after so long: whoever wants them has come.
KEEP_S = 24 * 3600


@dataclass
class Now:
    recorder: Recorder | None = None
    completion: Completion | None = None
    forked: bool = False
    """This process was forked off one that records, and has made no call yet."""
    native: Any = None
    """The library that sees calls in place of kernels in Python, where it was built."""
    gate: Gate | None = None
    """What calls must pass before they are issued, where there is a plan."""


now = Now()


def recorder() -> Recorder | None:
    """The recorder, opened anew where a forked process makes its first call."""
    if now.recorder is None and now.forked:
        now.forked = False
        try:
            open_ring()
        except Exception:
            return None
    return now.recorder


def open_ring() -> Path:
    folder = places.made(os.environ)
    _sweep(folder)
    rank = os.environ.get("RANK", os.environ.get("OMPI_COMM_WORLD_RANK", "x"))
    attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    process = f"{os.getppid()}-{os.getpid()}-{started(os.getpid())}"
    path = folder / f"raf-rank{rank[:7]}-attempt{attempt[:7]}-{process}.ring"
    # Only a process that stopped recording and begins again finds its own ring there.
    path.unlink(missing_ok=True)
    ring = Ring(path)
    ring.add(layout.ENVIRONMENT, [1, sys.argv[:8], sys.version.split()[0], Path.cwd().as_posix()])
    opened = Recorder(ring)
    now.completion = Completion(opened, Sources(ring, folder / "raf-sources"), now.native)
    if now.native is not None:
        _hand_over(now.native, opened, now.completion)
    now.recorder = opened
    return ring.path


def _hand_over(native: Any, to: Recorder, completion: Completion) -> None:
    """Let the native library write calls to this ring; it asks back about whatever it has not seen before."""

    def learn_group(name: str, description: str, rank: int, size: int) -> int:
        completion.start()
        return to.learn_group(name, description, rank, size)

    to.next_number = native.next_number
    to.on_step = native.set_step
    native.configure(
        to.ring.map,
        layout.HEADER_SIZE,
        to.ring.capacity,
        layout.LAST_AT,
        (stacks.MOST, tables.MOST_SHAPES, tables.MOST_GROUPS),
        to.stacks.of,
        to.learn_shape,
        learn_group,
        to.learn_thread,
        to.in_flight,
        recorder,
    )
    to.ring.set_writer(layout.NATIVE)


def ring_folder() -> Path:
    """`RAF_RING_DIR`, or a folder of this user's in shared memory."""
    return places.home(os.environ)


def close() -> None:
    """Stop recording; the ring stays, for others of the job may hang."""
    old, completion = now.recorder, now.completion
    now.recorder = now.completion = None
    if now.native is not None:
        now.native.stop(False)
    if completion is not None:
        completion.stop()
    if old is not None:
        old.ring.close()


def give_up() -> None:
    """A ring that nobody can write to must not pass for that of a rank which makes no calls."""
    ring = now.recorder.ring.path if now.recorder is not None else None
    close()
    if ring is not None:
        ring.unlink(missing_ok=True)


def forked() -> None:
    """The parent's ring is the parent's: a child that makes calls of its own gets one of its own."""
    if now.recorder is not None:
        now.recorder = now.completion = None
        now.forked = True
        if now.native is not None:
            now.native.stop(True)


def _sweep(folder: Path) -> None:
    """Remove rings whose process is gone since long."""
    for old in folder.glob("raf-rank*.ring"):
        try:
            pid, begun = (int(word) for word in old.stem.split("-")[-2:])
            if time.time() - old.stat().st_mtime > KEEP_S and started(pid) != begun:
                old.unlink()
        except (ValueError, OSError):
            continue
