"""DeepSpeed's launcher, mpirun, Ray, Kubernetes: what they say of a process that ended."""

# ruff: noqa: E501 - a pattern that is cut in two cannot be read any more

from __future__ import annotations

from rankandfile.evidence.text.logs.context import Context
from rankandfile.evidence.text.logs.event import Event
from rankandfile.evidence.text.logs.shape import Shape

ORDER = 110


def _signalled(event: Event, _context: Context) -> None:
    event.exit_code = -int(event.signal) if event.signal and len(event.signal) < 4 else None


SHAPES = (
    Shape("launcher_killing", "P6", "echo", "Killing subprocess", r"Killing subprocess (?P<pid>\d+)"),
    Shape(
        "launcher_exit", "P6", "fact", "exits with return code",
        r"exits with return code = (?P<exit_code>-?\d+)",
    ),
    Shape(
        "mpirun_exit", "P7", "fact", "mpirun noticed that",
        r"noticed that process rank (?P<rank>\d+) with PID (?P<pid>\d+) on node (?P<host>\S+) exited on signal (?P<signal>\d+)",
        then=_signalled,
    ),
    Shape(
        "ray_worker_exit", "P7", "fact", "Worker exit type",
        r"Worker exit type: (?P<exit_type>\w+)(?: Worker exit detail: (?P<detail>[^.]*))?",
    ),
    Shape(
        "ray_oom", "P7", "origin", "node running low on memory",
        r"(?:Task|Actor|Worker)\w* was killed due to the node running low on memory",
    ),
    Shape("ray_sigterm", "P7", "echo", "process receives a SIGTERM", r"The process receives a SIGTERM"),
    Shape("pod_oom", "K4", "origin", "OOMKilled", r"OOMKilled(?:.*?exit ?[cC]ode:? (?P<exit_code>\d+))?"),
)  # fmt: skip
