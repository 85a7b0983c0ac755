"""A program's own watch over its steps."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

from support.evidence.shape_tests import Example, ShapeTests

EXAMPLES = [
    Example("Z2", "no_step", "WARNING | monitor | no step finished for 1800 s (now in step 645)", {"waited_ms": 1_800_000, "step": 645, "role": "messenger"}),
    Example("Z2", "no_step", "[WATCHDOG] No progress for 120s, last step=88", {"waited_ms": 120_000, "step": 88}),
    Example("Z2", "no_step", "hang check: no training step completed in the last 15 minutes", {"waited_ms": 900_000}),
    Example("Z2", "no_step", "worker 3 has not made progress for over 2 hours", {"waited_ms": 7_200_000}),
    Example("Z2", "no_step", "WARNING: no iteration has been completed within 600.0 seconds", {"waited_ms": 600_000}),
]  # fmt: skip


class TestOwnWatch(ShapeTests):
    examples = EXAMPLES
