"""Ranks that go round one loop of three calls."""

from __future__ import annotations

from rankandfile.model.diagnosis import Verdict
from rankandfile.reason import diagnose
from support.reason.building import WORLD, Call, Job, Step, case_of, loop

BACKWARD = Call(WORLD, "all_reduce", 6436, "trainer.py:63")


NORM = Call(WORLD, "all_reduce", 1, "optimizer.py:24")


LOSS = Call(WORLD, "all_gather", 8, "metrics.py:11")


BODY: list[Step] = [BACKWARD, NORM, LOSS]


def verdict_of(
    programs: dict[int, list[Step]], backend: str = "nccl", ring: int | None = None, **more: bool
) -> Verdict:
    job = Job({WORLD: sorted(programs)}, programs, backend=backend)
    diagnosis = diagnose(case_of(job, ring=ring, **more))
    assert len(diagnosis.verdicts) == 1
    return diagnosis.verdicts[0]


def others(size: int, steps: int = 8) -> dict[int, list[Step]]:
    return {rank: loop(BODY, steps) for rank in range(size)}
