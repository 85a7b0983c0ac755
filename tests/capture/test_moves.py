"""Ranks seen from outside: what counts as a move (not what is written because nothing happens), and how they ended."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

from rankandfile.capture.watch.endings import Endings
from rankandfile.capture.watch.processes import status
from rankandfile.capture.watch.rings import NEWEST, look
from rankandfile.capture.watch.stall import Stall
from rankandfile.runtime.recorder.completion import is_pulse
from rankandfile.runtime.recorder.ring import Ring
from rankandfile.wire import layout


def write(ring: Ring, number: int, kind: int) -> None:
    wall = time.time_ns()
    numbers = (number, number * 1000, wall, 0, 4, 4, 0, number, 0, number, 0, 0, 0, 0, 0, 0, -1)
    at = ring.put(number, layout.BODY.pack(*numbers, kind, 1, 0, 0))
    if kind == layout.CALL:
        ring.stamp(at, number, layout.LEFT_AT, 5)
        if number != CALLS:
            ring.stamp(at, number, layout.DONE_AT, 9)


#: More than are looked at; the last one is open.
CALLS = NEWEST + 40


def hung(folder: Path) -> Ring:
    """The ring of this process, which has made many calls and waits in the last."""
    ring = Ring(folder / f"raf-rank0-attempt0-1-{os.getpid()}-1.ring", capacity=4 * CALLS)
    for number in range(1, CALLS + 1):
        write(ring, number, layout.CALL)
    return ring


def test_a_stall_lasts_while_a_hung_rank_tells_that_it_stands(tmp_path: Path) -> None:
    """A rank leaves its stack every few seconds: the diagnosis of a hang takes longer than that."""
    ring = hung(tmp_path)
    stall = Stall(0.0, 3.0)
    assert [stall.feed(at, look(tmp_path)) for at in (0.0, 1.0, 3.5)] == [False, False, True]
    for more in range(1, 6):
        write(ring, CALLS + more, layout.PULSE)
        assert not stall.feed(3.5 + more, look(tmp_path))
        assert stall.told
    at = ring.place(CALLS)
    ring.stamp(at, CALLS, layout.DONE_AT, 7)
    assert not stall.feed(10.0, look(tmp_path))
    assert not stall.told  # this was a move


def test_what_a_rank_waits_in_is_seen_after_any_number_of_signs_that_it_stands(tmp_path: Path) -> None:
    ring = hung(tmp_path)
    (before,) = look(tmp_path)
    for number in range(CALLS + 1, 4 * CALLS):  # the ring has come round: the first calls are overwritten
        write(ring, number, layout.PULSE)
        if number % 50 == 0:
            (now,) = look(tmp_path)
            assert (now.calls, now.open, now.progress[0]) == (CALLS, True, before.progress[0])


def test_a_hang_of_a_week_stays_in_the_ring() -> None:
    beats = range(1, 7 * 24 * 3600)
    assert sum(map(is_pulse, beats)) < layout.CAPACITY / 4
    assert [beat for beat in beats[:45] if is_pulse(beat)] == [2, 4, 10, 20, 30, 40]


def test_a_stall_of_which_nothing_follows_is_looked_at_again(tmp_path: Path) -> None:
    hung(tmp_path)
    stall = Stall(0.0, 3.0)
    stall.feed(0.0, look(tmp_path))
    told = []
    for at in range(1, 60):
        if stall.feed(float(at), look(tmp_path)):
            told.append(at)
            stall.undecided()
    assert told == [3, 6, 12, 24, 48]


#: A launcher that waits for another rank first.
LAUNCHER = "import os, time; print(os.fork() or os.kill(os.getpid(), 9), flush=True); time.sleep(600)"


def test_how_somebody_ended_before_we_came() -> None:
    launcher = subprocess.Popen([sys.executable, "-S", "-c", LAUNCHER], stdout=subprocess.PIPE)
    with launcher, contextlib.ExitStack() as at_end:
        at_end.callback(launcher.kill)
        assert launcher.stdout is not None
        pid = int(launcher.stdout.readline())
        endings, end = Endings(), time.monotonic() + 300
        while (found := status(pid)) is None or found.state != "Z":
            assert time.monotonic() < end
        endings.watch(pid)
        while endings.code(pid) is None:
            assert time.monotonic() < end
    assert endings.code(pid) == -9
