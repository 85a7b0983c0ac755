"""A job of which one rank does not come to the call that all others wait in."""

from __future__ import annotations

from support.reason.building import WORLD, Call, Job, Step, Stop, case_of, loop
from support.reason.witnesses import Witnesses

BODY: list[Step] = [
    Call(WORLD, "all_reduce", 64, "trainer.py:63"),
    Call(WORLD, "all_gather", 8, "metrics.py:11"),
]


OTHERS = (0, 1, 3)


def job(absent: int = 2, size: int = 4) -> Job:
    programs = {rank: loop(BODY, 6) for rank in range(size)}
    programs[absent] = [*loop(BODY, 4), Stop()]
    return Job({WORLD: list(range(size))}, programs)


def stalled(size: int = 4) -> Job:
    """All members join the last call, and the network does not finish it."""
    programs = {rank: loop(BODY, 6) for rank in range(size)}
    return Job({WORLD: list(range(size))}, programs, stalled=frozenset({(WORLD, 11)}))


def absent(waited_s: float = 700.0) -> Witnesses:
    """Rank 2 never came to a call; its dump says so."""
    return Witnesses(case_of(job(), waited_s=waited_s))


def lost() -> Witnesses:
    """The same, and the dump of rank 2 is not there."""
    return Witnesses(case_of(job(), lost=[2]))
