"""What data loaders write."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

from support.evidence.shape_tests import Example, ShapeTests

EXAMPLES = [
    Example("P5", "loader_killed", "RuntimeError: DataLoader worker (pid 29532) is killed by signal: Killed. ", {"worker_pid": 29532, "signal": "SIGKILL", "role": "origin"}),
    Example("P5", "loader_killed", "RuntimeError: DataLoader worker (pid 29532) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory.", {"signal": "SIGBUS"}),
    Example("P5", "loader_killed", "RuntimeError: DataLoader worker (pid 29532) is killed by signal: Terminated. ", {"signal": "SIGTERM", "role": "echo"}),
    Example("P5", "loader_exited", "RuntimeError: DataLoader worker (pid(s) 29532, 29533) exited unexpectedly", {"worker_pids": "29532, 29533"}),
    Example("P5", "loader_raised", "KeyError: Caught KeyError in DataLoader worker process 0.", {"exception": "KeyError", "worker": 0}),
    Example("P5", "loader_timeout", "RuntimeError: DataLoader timed out after 120 seconds", {"timeout_ms": 120_000}),
    Example("P5", "loader_bus_error", "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).", {}),
]  # fmt: skip


class TestLoader(ShapeTests):
    examples = EXAMPLES
