"""The signals that a watcher of a job hears, and passes on to it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

#: Signals that end things, and that the job gets when we do.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
PASSED_ON = (*ENDING, signal.SIGUSR1, signal.SIGUSR2)
HEARD = (*PASSED_ON, signal.SIGCHLD, signal.SIGWINCH)


@contextmanager
def held_back() -> Iterator[set[signal.Signals]]:
    """Block them meanwhile, to be waited for; with what was blocked before.

    Before the first thread is started: a library that is imported may start one of its own, and a signal to the process
    goes to any thread that does not block it. The handler would end the watcher in the midst of its job.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, HEARD)
    try:
        yield {signal.Signals(number) for number in before}
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
