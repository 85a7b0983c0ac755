"""All ranks wait in the setup, and the last line of a few names another place for it than that of most."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankandfile import diagnose
from rankandfile.model.diagnosis import Verdict

C10D = "torch/distributed/distributed_c10d.py"
IN_SETUP = f"    init_process_group ({C10D}:1899)\n    start (start.py:40)\n    main (train.py:9)\n"
ELSEWHERE = "    read (data.py:12)\n    main (train.py:8)\n"


def waiting(folder: Path, places: dict[int, str], stacks: dict[int, str] | None = None) -> Verdict:
    for rank, place in places.items():
        stack = (stacks or {}).get(rank, IN_SETUP)
        told = f'Process {100 + rank}: python train.py\n\nThread {100 + rank} (idle): "MainThread"\n{stack}'
        (folder / f"stack_rank{rank}.txt").write_text(told)
        (folder / f"rank_{rank}.log").write_text(
            f"2026-03-01 10:00:00 [rank {rank}] INFO start.py:22 reading the configuration\n"
            f"2026-03-01 10:00:01 [rank {rank}] INFO start.py:39 waiting for {len(places)} ranks at {place}\n"
        )
    return diagnose(folder).verdicts[0]


def named(verdict: Verdict) -> list[int]:
    return [one.rank for one in (*verdict.culprits, *verdict.suspects)]


@pytest.mark.parametrize(
    ("usual", "other"),
    [
        ("/scratch/meet/job-7", "/local/scratch/meet/job-7"),
        ("tcp://10.0.0.4:29500", "tcp://10.0.0.9:29500"),
        ("gpu-17.cluster.local:29500", "gpu-18.cluster.local:29500"),
    ],
)
def test_who_is_told_another_place_than_most_waits_elsewhere(tmp_path: Path, usual: str, other: str) -> None:
    verdict = waiting(tmp_path, {0: usual, 1: usual, 2: other, 3: usual})
    assert verdict.cause == "init_stuck" and named(verdict) == [2]
    # One look at a job that begins shows all of its ranks there.
    assert verdict.hang is None and other in verdict.sentence


@pytest.mark.parametrize(
    "places",
    [
        dict.fromkeys(range(4), "/scratch/meet/job-7"),
        {rank: f"/local/{'abcd'[rank]}/meet" for rank in range(4)},
        {0: "/scratch/a", 1: "/scratch/a", 2: "/scratch/b", 3: "/scratch/b"},
    ],
)
def test_one_place_or_one_for_each_or_two_of_as_many_name_nobody(
    tmp_path: Path, places: dict[int, str]
) -> None:
    assert not named(waiting(tmp_path, places))


def test_who_is_not_in_the_setup_at_all_is_the_one_that_is_waited_for(tmp_path: Path) -> None:
    places = {0: "/scratch/a", 1: "/scratch/a", 2: "/scratch/b", 3: "/scratch/a"}
    verdict = waiting(tmp_path, places, {3: ELSEWHERE})
    assert "do not wait at one place" not in verdict.sentence
