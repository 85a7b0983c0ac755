"""Ranks that all do the same in one group."""

from __future__ import annotations

from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Verdict
from rankandfile.reason import diagnose
from support.reason.building import WORLD, Call, Job, Step, loop


def all_reduce(size: int = 1024, site: str = "trainer.py:60", group: str = WORLD) -> Call:
    return Call(group, "all_reduce", size, site)


STEP: list[Step] = [
    all_reduce(),
    Call(WORLD, "all_gather", 64, "metrics.py:11"),
    all_reduce(1, "optimizer.py:24"),
]


def world(size: int, programs: dict[int, list[Step]], **more: object) -> Job:
    normal = loop(STEP, 5)
    everyone = {rank: programs.get(rank, normal) for rank in range(size)}
    return Job({WORLD: list(range(size))}, everyone, **more)  # type: ignore[arg-type]


def only(case: Case) -> Verdict:
    diagnosis = diagnose(case)
    assert len(diagnosis.verdicts) == 1
    return diagnosis.verdicts[0]
