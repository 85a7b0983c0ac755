"""What a program says as it leaves the way of the others, and what only sounds like it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.evidence.reading_logs import events_of
from support.evidence.shape_tests import Example, ShapeTests

EXAMPLES = [
    Example("P1", "said_no_data", "shard 3 exhausted after 118 batches", {}),
    Example("P1", "said_no_data", "no more batches left in part 7", {}),
    Example("P1", "said_no_data", "data loader ran out of samples at step 40", {}),
    Example("P1", "said_leaving", "no progress for 3 rounds, stopping early", {}),
    Example("P1", "said_leaving", "received signal 15, leaving the training loop", {}),
    Example("P1", "said_leaving", "time limit reached, saving and going home", {}),
    Example("P1", "said_waiting", "still waiting for the lock of part 3", {}),
    Example("P1", "said_waiting", "waiting for the cache to be warm, 40 s", {}),
]


class TestDepartures(ShapeTests):
    examples = EXAMPLES


@pytest.mark.parametrize(
    "line",
    [
        "data loading took 3.1 s for 4 batches",
        "nothing left to prune in layer 3",
        "queue size 4, prefetch 2",
        "saved the checkpoint, training goes on",
        "gradient left unscaled, loss 0.7",
        "stops at token 2: 12 of 40 sequences",
        "signal to noise 3.2",
        "target accuracy 0.9, so far 0.7",
        "awaiting nobody: single node",
    ],
)
def test_what_only_sounds_like_it(tmp_path: Path, line: str) -> None:
    told = {row["kind"] for row in events_of(tmp_path, f"[rank3]: {line}\n")}
    assert not told & {"said_no_data", "said_leaving", "said_waiting"}
