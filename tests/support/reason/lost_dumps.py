"""A job of which one dump is lost."""

from __future__ import annotations

from support.reason.building import WORLD, Call, Job, Step, Stop, case_of, loop
from support.reason.witnesses import Witnesses

BODY: list[Step] = [
    Call(WORLD, "all_reduce", 64, "trainer.py:63"),
    Call(WORLD, "all_gather", 8, "metrics.py:11"),
]


def lost(absent: int = 2, size: int = 4) -> Witnesses:
    """One rank never came to call 9, and its dump is lost."""
    programs = {rank: loop(BODY, 6) for rank in range(size)}
    programs[absent] = [*loop(BODY, 4), Stop()]
    return Witnesses(case_of(Job({WORLD: list(range(size))}, programs), lost=[absent]))
