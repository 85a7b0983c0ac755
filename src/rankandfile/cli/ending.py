"""What a command does when it is asked to end: it tidies up, as for Ctrl-C, and leaves no spool behind."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

_ASKING = (signal.SIGTERM, signal.SIGHUP)


class Ended(BaseException):
    """A signal asks for the end; goes through everything that has something to remove."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number


@contextlib.contextmanager
def tidily() -> Iterator[None]:
    """SIGTERM and SIGHUP raise `Ended`, where nobody has said otherwise, as `nohup` does."""
    # A watcher of jobs blocks signals, and a process that it starts would never hear of any.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {*_ASKING, signal.SIGINT})
    ours = [number for number in _ASKING if signal.getsignal(number) == signal.SIG_DFL]
    try:
        for number in ours:
            signal.signal(number, _end)
    except ValueError:  # not the main thread: whoever called us hears signals
        ours = []
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _end(number: int, _frame: FrameType | None) -> None:
    # Once: another one must not break off the tidying.
    signal.signal(number, signal.SIG_IGN)
    raise Ended(number)
