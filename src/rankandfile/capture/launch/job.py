"""A command and everything below it: its output is kept, signals reach it, and nothing outlives it."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence

from rankandfile.capture.launch.output import Output
from rankandfile.capture.launch.signals import ENDING, HEARD, PASSED_ON
from rankandfile.capture.watch import processes

#: `siginfo.si_code` of a signal that a terminal sent, to the whole foreground group.
_FROM_KERNEL = 0x80
#: What outlives an interrupted job gets so long for its own end; a job that is to end, to do it by itself.
LEFT_S, KILL_AFTER_S = 5.0, 10.0


class Job:
    """Made and fed by one thread, the main one: signals are blocked (`signals.held_back`) and waited for, never
    handled. `before` is what was blocked earlier, as the job is to have it."""

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str], output: Output, before: set[signal.Signals]
    ) -> None:
        self._output = output
        self._kill_at = math.inf
        self._is_to_end = False
        # With a terminal it stays in our group, as it would be without us: Ctrl-C, Ctrl-Z and reading work.
        self._shares_group = os.isatty(0)
        self._adopts = processes.adopt_orphans()
        self._mask = before

        def in_child() -> None:
            if not self._shares_group:
                os.setpgid(0, 0)
            processes.end_with_parent()
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

        self._process = subprocess.Popen(
            list(command),
            env={**env, **output.variables},
            stdout=output.ends[0],
            stderr=output.ends[1],
            preexec_fn=in_child,
        )
        self.pid = self._process.pid
        output.start()
        self.endings = 0
        """How many signals have asked for its end."""

    def wait(self, seconds: float) -> int | None:
        """Wait a moment, or until something happens; the exit code if the job has ended, negative for a signal."""
        heard = signal.sigtimedwait(HEARD, seconds)
        if heard is not None:
            self._hear(heard)
        if time.monotonic() > self._kill_at:
            self._kill_at = math.inf
            processes.end_all_below(os.getpid(), 1.0)
        return self._process.poll()

    def _hear(self, heard: signal.struct_siginfo) -> None:
        if heard.si_signo == signal.SIGWINCH:
            self._output.resize()
        if heard.si_signo not in PASSED_ON:
            return
        if heard.si_signo in ENDING:
            self.endings += 1
        if self.endings > 1:
            processes.end_all_below(os.getpid(), LEFT_S)
        elif not (self._shares_group and heard.si_code == _FROM_KERNEL):
            # A terminal interrupts all of a job: a launcher that is told alone may wait for ranks that were not.
            everybody = heard.si_signo in (signal.SIGINT, signal.SIGQUIT)
            processes.send(self._group() if everybody else [self.pid], heard.si_signo)

    def _group(self) -> list[int]:
        """The launcher and what it has left in its process group."""

        def group_of(pid: int) -> int:
            with contextlib.suppress(OSError):
                return os.getpgid(pid)
            return -1

        own = group_of(self.pid)
        return [self.pid, *(pid for pid in processes.descendants(self.pid) if group_of(pid) == own)]

    def end(self) -> None:
        """Ask the launcher to end it; if it has not after a while, all that is left is killed. For any thread."""
        self._is_to_end = True
        processes.send([self.pid], signal.SIGTERM)
        self._kill_at = time.monotonic() + KILL_AFTER_S

    def finish(self, code: int) -> None:
        """After its end: nothing of a job that was ended remains, and all of its output has been passed on."""
        if self._adopts and (self.endings or self._is_to_end or code < 0):
            processes.end_all_below(os.getpid(), LEFT_S)
        self._output.finish(2.0)
        # There is no job any more that an interrupt could be meant for.
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
