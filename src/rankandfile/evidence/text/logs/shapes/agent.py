"""Torchrun's agent: it ends the survivors after a failure, and tells in one table per node what it saw first.

What it ended is a victim; "first observed" is a matter of polling.
"""

from __future__ import annotations

from rankandfile.evidence.text.logs.blocks import failure_row
from rankandfile.evidence.text.logs.shape import Shape

ORDER = 90

SHAPES = (
    Shape(
        "agent_closing", "P3", "echo", "closing signal ",
        r"Sending process (?P<pid>\d+) closing signal (?P<signal>SIG\w+|\d+)",
    ),
    Shape(
        "agent_unkillable", "P3", "fact", "Unable to shutdown process",
        r"Unable to shutdown process (?P<pid>\d+) via (?P<signal>\S+?), forcefully exiting via (?P<then>\S+)",
    ),
    Shape(
        "agent_unkillable", "P3", "fact", "did not exit after",
        r"[Pp]rocess (?P<pid>\d+) did not exit after .*?(?P<signal>SIGKILL)",
    ),
    Shape(
        "agent_failure", "P3", "fact", ("failed (exitcode", " of binary: "),
        r"failed \(exitcode: (?P<exit_code>-?\d+)\) local_rank: (?P<local_rank>\d+) \(pid: (?P<pid>\d+)\)",
    ),
    Shape(
        "restarted", "P3", "fact",
        ("will restart worker group", "Restarting worker group", "estarting the worker group"),
        r"(?:will restart worker group|Restarting worker group|[Rr]estarting the worker group)",
    ),
    Shape(
        "restarted", "P3", "fact", "restart_count=", r"restart_count=(?P<count>[1-9]\d*)",
    ),
    Shape(
        "agent_signalled", "P3", "fact", "death signal, shutting down",
        r"Received (?:Signals\.)?(?P<signal>\w+) death signal, shutting down workers",
    ),
    Shape(
        "agent_signalled", "P3", "fact", ("SignalException", " got signal: "),
        r"Process (?P<pid>\d+) got signal: (?P<signal>\d+)",
    ),
    Shape(
        "agent_finished", "P3", "fact", "worker group successfully finished",
        r"worker group successfully finished\. Waiting (?P<waits_s>\d+) seconds for other agents",
    ),
    Shape(
        "job_ended_well", "P3", "fact", "waiting for other agents",
        r"Done waiting for other agents\. Elapsed: (?P<waited>[\d.]+) seconds",
    ),
    Shape(
        "child_failed", "P4", "fact", "exitcode  : ",
        r"exitcode  : (?P<exit_code>-?\d+) \(pid: (?P<pid>\d+)\)(?: \((?P<signal>SIG\w+)\))?",
        then=failure_row,
    ),
)  # fmt: skip
