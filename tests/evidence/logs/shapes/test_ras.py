"""What NCCL's RAS answers."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

from support.evidence.shape_tests import Example, ShapeTests

MACHINE = [
    Example("R5", "ras_event", "[2026-02-07 13:07:07] PEER_DEAD: Process 4242 on node 10.1.2.3 managing GPU 1", {"what": "PEER_DEAD", "pid": 4242, "host": "10.1.2.3", "device": 1}),
]  # fmt: skip


class TestRas(ShapeTests):
    machine = MACHINE
