"""The host of a rank does not get there, or its process is gone."""

from __future__ import annotations

from dataclasses import replace

from rankandfile.lab.sim.faults.fault import Fault, Ranks, ahead_of
from rankandfile.lab.sim.ops import Leave, Say, Work
from rankandfile.lab.sim.sources import places

TRACEBACK = """Traceback (most recent call last):
  File "/workspace/trainkit/train.py", line {main_line}, in <module>
    main()
  File "/workspace/trainkit/{file}", line {line}, in {function}
    {text}
{error}"""


def blocked(ranks: Ranks, site: str, nth: int, doing: str, place: str) -> Fault:
    """A rank never comes back from a lock, a read, a save."""
    return Fault(
        "host_blocked", ranks, place, "absent", ahead_of(site, nth, Work(None, doing)),
        fix="give the call a time limit, and let its failure end the job", accepted=("host_slow",),
    )  # fmt: skip


def slow(ranks: Ranks, site: str, nth: int, doing: str, place: str, seconds: float = 700.0) -> Fault:
    """It comes back, but after the others' patience has ended."""
    return Fault(
        "host_slow", ranks, place, "absent", ahead_of(site, nth, Work(seconds, doing)),
        fix="do the long work before the group waits for it, or on a group with its own timeout",
        accepted=("host_blocked", "too_short_timeout"),
    )  # fmt: skip


def too_short(ranks: Ranks, site: str, nth: int, doing: str, place: str, seconds: float) -> Fault:
    """Legitimate work that simply takes longer than a timeout someone has set too low."""
    fault = slow(ranks, site, nth, doing, place, seconds)
    return replace(
        fault,
        cause="too_short_timeout",
        accepted=("host_slow", "host_blocked"),
        fix="set the timeout above the longest legal wait",
    )


def raised(ranks: Ranks, site: str, nth: int, place: str, error: str) -> Fault:
    """An exception ends the process; the launcher lets the others wait."""
    return Fault(
        "raised", ranks, place, "absent",
        ahead_of(site, nth, Say(_traceback(place, error)), Leave("raised", "exit", 1, error)),
        fix="fix the error; start ranks so that one failure ends all", accepted=("exited",), ranks_from_dumps=(),
    )  # fmt: skip


def raised_then_destroy(ranks: Ranks, site: str, nth: int, place: str, raised_at: str, error: str) -> Fault:
    """The process destroys the groups at its end, which waits for ever; this rank never dumps. `place`: upon what
    it raises."""
    said = Say(_traceback(raised_at, error))
    return Fault(
        "raised", ranks, place, "absent", ahead_of(site, nth, said, Leave("destroying", "destroy", 1, error)),
        fix="do not destroy the groups on the failing path", ranks_from_dumps=(),
    )  # fmt: skip


def killed(ranks: Ranks, site: str, nth: int, place: str) -> Fault:
    return Fault(
        "killed", ranks, place, "absent", ahead_of(site, nth, Leave("killed", "exit", -9)),
        fix="lower the host memory of the rank", ranks_from_dumps=(), kernel="oom",
    )  # fmt: skip


def exited(ranks: Ranks, site: str, nth: int, place: str) -> Fault:
    return Fault(
        "exited", ranks, place, "absent", ahead_of(site, nth, Leave("exited", "exit", 3)),
        fix="end the job, not the rank", accepted=("early_exit",), ranks_from_dumps=(),
    )  # fmt: skip


def _traceback(place: str, error: str) -> str:
    where = places()[place]
    return TRACEBACK.format(
        main_line=places()["main"].line,
        file=where.file,
        line=where.line,
        function=where.function,
        text=where.text,
        error=error,
    )
