"""A monitored barrier whose first rank keeps count and does not come: the others say that they were there."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

from pathlib import Path

import pytest

import rankandfile
from rankandfile.model.diagnosis import Verdict

WORLD = "[2026-01-09 07:00:02,101] [INFO] [launch.py:163:main] dist_world_size=3\n"


def verdict(folder: Path, text: str) -> Verdict:
    folder.mkdir(exist_ok=True)
    (folder / "nohup.out").write_text(text)
    return rankandfile.diagnose([folder]).verdicts[0]


def gave_up(rank: int, why: str = "Timed out waiting 900000ms for recv operation to complete") -> str:
    said = f"Rank {rank} successfully reached monitoredBarrier, but received errors while waiting for send/recv from rank 0. Please check rank 0 logs for faulty rank."
    return (
        f"[E ProcessGroupGloo.cpp:2794] {said}\n"
        "Traceback (most recent call last):\n"
        '  File "/srv/pre/index.py", line 77, in <module>\n'
        "    dist.monitored_barrier()\n"
        f"RuntimeError: {said}\n"
        " Original exception: \n"
        f"[../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] {why}\n"
    )


def rows(first: int, last: int) -> str:
    return "".join(f"indexed {n * 5000}/2000000 rows [{n:02}:00, 83.1 rows/s]\n" for n in range(first, last))


def test_who_is_still_at_work_when_the_others_give_up(tmp_path: Path) -> None:
    found = verdict(tmp_path, WORLD + rows(1, 15) + gave_up(1) + gave_up(2) + rows(15, 19))
    assert (found.cause, [one.rank for one in found.culprits]) == ("host_slow", [0])
    assert "say ranks 1 and 2" in found.sentence
    assert "indexed 90000/2000000 rows" in found.sentence
    assert found.location is not None
    assert (found.location.file, found.location.line) == ("/srv/pre/index.py", 77)


def test_who_is_silent_did_not_come(tmp_path: Path) -> None:
    found = verdict(tmp_path, WORLD + rows(1, 9) + gave_up(1) + gave_up(2))
    assert (found.cause, [one.rank for one in found.culprits]) == ("undetermined", [0])
    assert "did not come to the monitored barrier within 900 s" in found.sentence


@pytest.mark.parametrize(
    "text",
    [
        gave_up(1),
        gave_up(1, "Connection closed by peer [10.0.0.1]:4811")
        + gave_up(2, "Connection closed by peer [10.0.0.1]:4811"),
    ],
    ids=["another is missing too", "it gave up itself"],
)
def test_the_one_that_keeps_count_may_have_waited_for_another(tmp_path: Path, text: str) -> None:
    found = verdict(tmp_path, WORLD + rows(1, 9) + text)
    assert not found.culprits
    assert "rank 0 did not come" not in found.sentence.lower()
