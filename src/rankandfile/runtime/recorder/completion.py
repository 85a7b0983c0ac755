"""Noticing that calls are complete, from a thread that asks their work objects now and then.

For tensors in host memory, and on a device where that is asked for (`RAF_DEVICE_COMPLETION=1`, see device.py). A work
object is let go as soon as it is seen to be complete, and only the newest are kept, so that the tensors that it holds
do not stay.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import deque
from typing import Any

from rankandfile.runtime.recorder import device
from rankandfile.runtime.recorder.recorder import Recorder, Token
from rankandfile.runtime.recorder.sources import Sources
from rankandfile.wire import layout

EVERY_S = 0.02
#: For the thread to come to its end.
END_S = 2.0
#: Between two signs of life.
BEAT_S = 1.0
#: Calls that are followed at a time; older ones are given up.
MOST = 256


class Completion:
    """Follows the calls of Python kernels itself, and asks the native library to look after its own."""

    def __init__(self, recorder: Recorder, sources: Sources, native: Any = None) -> None:
        self._recorder = recorder
        self._sources = sources
        self._native = native
        self._device = device.wanted()
        self._open: deque[tuple[Token, Any]] = deque(maxlen=MOST)
        self._last = 0
        self._quiet = 0
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def follow(self, token: Token, result: Any) -> None:
        """Begin to ask for the work that an operator returned, if it did."""
        work = result[-1] if isinstance(result, (tuple, list)) else result
        flags = token[3]
        asks = not flags & layout.CAPTURED and (self._device or not flags & layout.ON_DEVICE)
        if asks and work is not None:
            self._open.append((token, work))
        self.start()

    def start(self) -> None:
        """Begin to watch; a process that makes no call needs no thread."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="raf-recorder", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        beaten = 0.0
        # In this thread, for it is a thread's own setting.
        if self._device:
            self._device = device.allow_asking()
        if self._native is not None:
            self._native.set_follow_device(self._device)
        while True:
            time.sleep(EVERY_S)  # which takes less of the processor than to wait for the event
            if self._ended.is_set():
                return
            self._ask()
            if time.monotonic() - beaten > BEAT_S:
                beaten = time.monotonic()
                self._beat()

    def _beat(self) -> None:
        """The header says when this process last ran Python; the files' times, when their content was last known to be
        all there is. A process that cannot beat any more has its file dated by the others of its job on this host."""
        self._recorder.ring.beat()
        self._tell_where_it_stands()
        for ring in self._recorder.ring.siblings():
            with contextlib.suppress(OSError):
                os.utime(ring)
        self._sources.keep(self._recorder.stacks.files)

    def _tell_where_it_stands(self) -> None:
        """A process that records nothing for some seconds leaves its stack now and then."""
        last = self._recorder.ring.last()
        self._quiet = self._quiet + 1 if last == self._last else 0
        self._last = last
        if is_pulse(self._quiet):
            try:
                self._recorder.pulse()
            except Exception:
                self._recorder.failures += 1
            # The pulse is a record too, and no reason to think that the process went on.
            self._last = self._recorder.ring.last()

    def _ask(self) -> None:
        if self._native is not None:
            self._native.ask()
        if not self._open:
            return
        from torch.distributed import Work

        for _ in range(len(self._open)):
            try:
                token, work = self._open.popleft()
            except IndexError:  # the process ends, and has let go of all
                return
            try:
                unboxed = Work.unbox(work)
                if not unboxed.is_completed():
                    self._open.append((token, work))
                elif _succeeded(unboxed):
                    self._recorder.done(token)
            except Exception:
                self._recorder.failures += 1

    def stop(self) -> None:
        """At the end of the process: touch no work object any more. A thread that the interpreter ends while it asks
        one takes the whole process with it, so it is waited for."""
        self._ended.set()
        self._open.clear()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(END_S)


def is_pulse(quiet: int) -> bool:
    """After 2 and 4 quiet beats, then every 10, and in a hang that nobody minds every 600: a weekend of pulses must
    not push out of the ring what it hangs in."""
    return quiet in (2, 4) or (quiet > 0 and quiet % (10 if quiet <= 600 else 600) == 0)


def _succeeded(work: Any) -> bool:
    """Work that failed is over, but not complete: who looks later must find it as it was left."""
    try:
        future = work.get_future()  # `is_success` says the same, with a warning that it will go
    except RuntimeError:
        return True  # sends and receives have none
    try:
        future.value()
    except Exception:
        return False
    return True
