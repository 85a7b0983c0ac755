"""Data loader workers: processes of the host that no launcher watches."""

from __future__ import annotations

from rankandfile.evidence.text.logs.context import Context
from rankandfile.evidence.text.logs.event import Event
from rankandfile.evidence.text.logs.shape import Shape

ORDER = 100


def _worker(event: Event, context: Context) -> None:
    """The pid is a loader worker's, not the rank's. Terminated is what a dying parent does to its workers."""
    event.pid = context.bare.pid
    if event.signal == "Terminated":
        event.role = "echo"


SHAPES = (
    Shape(
        "loader_killed", "P5", "origin", "is killed by signal: ",
        r"DataLoader worker \(pid (?P<worker_pid>\d+)\) is killed by signal: (?P<signal>[A-Z][a-z]+(?: [a-z]+)*)",
        then=_worker,
    ),
    Shape(
        "loader_exited", "P5", "origin", "exited unexpectedly",
        r"DataLoader worker \(pid\(?s?\)? (?P<worker_pids>[\d, ]+)\) exited unexpectedly",
    ),
    Shape(
        "loader_raised", "P5", "origin", "in DataLoader worker",
        r"Caught (?P<exception>\w+) in DataLoader worker process (?P<worker>\d+)",
    ),
    Shape(
        "loader_timeout", "P5", "messenger", "DataLoader timed out",
        r"DataLoader timed out after (?P<timeout_s>\d+) seconds",
    ),
    Shape(
        "loader_bus_error", "P5", "origin", "bus error encountered",
        r"Unexpected bus error encountered in worker",
    ),
)  # fmt: skip
