"""What torchrun's agent writes."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

from support.evidence.shape_tests import Example, ShapeTests

EXAMPLES = [
    Example("P3", "agent_closing", "Sending process 29338 closing signal SIGTERM", {"pid": 29338, "signal": "SIGTERM", "role": "echo"}),
    Example("P3", "agent_unkillable", "Unable to shutdown process 29338 via 15, forcefully exiting via 9", {"pid": 29338}),
    Example("P3", "agent_unkillable", "Unable to shutdown process 29338 via Signals.SIGTERM, forcefully exiting via Signals.SIGKILL", {"pid": 29338, "signal": "SIGTERM"}),
    Example("P3", "agent_failure", "failed (exitcode: 3) local_rank: 1 (pid: 29339) of binary: /usr/bin/python3", {"exit_code": 3, "local_rank": 1, "pid": 29339}),
    Example("P3", "agent_signalled", "Received 15 death signal, shutting down workers", {"signal": "SIGTERM"}),
    Example("P3", "agent_signalled", "torch.distributed.elastic.multiprocessing.api.SignalException: Process 4200 got signal: 15", {"pid": 4200, "signal": "SIGTERM"}),
    Example("P3", "agent_finished", "[default] worker group successfully finished. Waiting 300 seconds for other agents to finish.", {"waits_s": 300}),
]  # fmt: skip


class TestAgent(ShapeTests):
    examples = EXAMPLES
