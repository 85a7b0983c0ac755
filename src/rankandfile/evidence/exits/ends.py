"""One end of a process, as any source tells it, on its way from the file to the table `exits`. No Polars.

A process that its launcher ended after a failure, or that its own watchdog aborted, is a victim: its end is an echo.
"""

from __future__ import annotations

import msgspec

from rankandfile.evidence.text.logs.signals import of_exit


class End(msgspec.Struct, kw_only=True, array_like=True):
    """What is known of one end; its fields are the columns of `rankandfile.model.events.EXITS`."""

    source: str
    kind: str
    rank: int | None = None
    local_rank: int | None = None
    host: str | None = None
    pid: int | None = None
    task: int | None = None
    state: str | None = None
    exit_code: int | None = None
    signal: str | None = None
    time_ns: int | None = None
    role: str | None = None
    error: str | None = None
    line: int | None = None
    evidence: str | None = None

    def by(self, code: int | None, signal: str | None) -> End:
        """Itself, with state, code and signal in one form: a code of 137 or -9 is SIGKILL, not a number."""
        if signal is None and code is not None:
            signal = of_exit(code)
        self.signal = signal
        self.exit_code = None if signal is not None else code
        if self.state in (None, "exited", "ended") and (signal is not None or code is not None):
            self.state = "signalled" if signal is not None else "exited"
        self.state = self.state or "ended"
        self.role = self.role or role_of(signal)
        return self


#: What launchers send to survivors, and what a process's own watchdog ends it with.
_VICTIMS = ("SIGTERM", "SIGABRT", "SIGINT")


def role_of(signal: str | None) -> str:
    """A code alone is a fact: whether the exception behind it began there, its traceback says."""
    if signal is None:
        return "fact"
    return "echo" if signal in _VICTIMS else "origin"
