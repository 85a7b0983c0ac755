"""What Python writes at the end of a process."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

from support.evidence.shape_tests import Example, ShapeTests

EXAMPLES = [
    Example("P1", "left_out", "WARNING trainkit step: bad sample, batch skipped: token 151936", {"what": "step: bad sample, batch skipped", "role": "fact"}),
    Example("P1", "left_out", "WARNING: Skipping corrupt record 17 of shard-0007", {"what": "Skipping corrupt record"}),
    Example("P1", "left_out", "ERROR ValueError swallowed in batch 12, exception ignored", {"role": "fact"}),
]  # fmt: skip


class TestPython(ShapeTests):
    examples = EXAMPLES
