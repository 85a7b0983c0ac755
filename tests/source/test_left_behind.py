"""What ranks have left since the call that all made decides nothing of the next one."""

from __future__ import annotations

import pytest
from support.source.toy_runs import FOLDER

from rankandfile.source.lines.call_paths import CallPath, Frame
from rankandfile.source.lines.of_two_cohorts.two_ways import left_behind


def path(*frames: tuple[str, int]) -> CallPath:
    return tuple(Frame(function, f"{FOLDER}train.py", line) for function, line in frames)


BEFORE = path(("run", 61), ("report", 25), ("mean", 16))


@pytest.mark.parametrize(
    ("due", "now", "depth"),
    [
        # The others are in the report still; it has come round the loop.
        (path(("run", 61), ("report", 25), ("gauges", 20)), path(("run", 59), ("forward", 32)), 0),
        # It left the statement within the report.
        (path(("run", 61), ("report", 25), ("gauges", 20)), path(("run", 61), ("report", 27)), 1),
        (path(("run", 61), ("report", 25), ("gauges", 20)), path(("run", 61), ("report", 25), ("save", 9)), None),
        # The others have left it, too.
        (path(("run", 63), ("save", 9)), path(("run", 59), ("forward", 32)), None),
    ],
)  # fmt: skip
def test_the_statement_that_a_rank_has_left_and_the_others_are_in(
    due: CallPath, now: CallPath, depth: int | None
) -> None:
    assert left_behind(BEFORE, due, now) == depth
