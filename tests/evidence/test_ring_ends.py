"""Which calls of a ring are over, where nobody saw their end."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from rankandfile.evidence.ring import as_ring
from rankandfile.runtime.recorder.ring import Ring
from rankandfile.wire import layout


@pytest.mark.parametrize(
    ("before_the_beat_s", "flags", "over"),
    [
        (0.1, 0, [True, True, True, False]),  # nobody asks any more: the call after it was complete
        (10.0, 0, [True, False, True, False]),  # who was asked for ten seconds is not
        (0.1, layout.ON_DEVICE, [True, False, True, False]),  # the host does not wait for a device
        (0.1, layout.P2P, [True, False, True, False]),
    ],
)
def test_a_call_whose_end_nobody_came_to_see(
    tmp_path: Path, before_the_beat_s: float, flags: int, over: list[bool]
) -> None:
    ring = Ring(tmp_path / f"raf-rank0-attempt0-1-{os.getpid()}-1.ring", capacity=16)
    ring.beat()
    wall = time.time_ns() - int(before_the_beat_s * 1e9)
    for number, done in enumerate([True, False, True, False], 1):
        numbers = (number, number * 1000, wall, 0, 4, 4, 0, number, 0, number, 0, 0, 0, 0, 0, 0, -1)
        place = ring.put(number, layout.BODY.pack(*numbers, layout.CALL, 1, 0, flags))
        if done:
            ring.stamp(place, number, layout.DONE_AT, 9)
    dump = as_ring.load(next(tmp_path.glob("*.ring"))).dump
    assert dump is not None
    assert [entry["retired"] for entry in dump["entries"]] == over
    assert [entry["state"] for entry in dump["entries"]][1] == "scheduled"
