"""A job that broke off, and one whose last rank came late."""

from __future__ import annotations

from support.reason.building import WORLD, Call, Job, Step, Stop, case_of, loop
from support.reason.witnesses import Witnesses

BODY: list[Step] = [Call(WORLD, "all_reduce", 64, "average.py:17")]


LOST = "RuntimeError: [pair.cc:553] Connection closed by peer [127.0.0.1]:46751"


def echo(witnesses: Witnesses, rank: int, words: str) -> Witnesses:
    kind, _, message = words.partition(": ")
    return witnesses.event("traceback", "echo", rank, words, exception=kind, message=message, frames=[])


def broken_off(waited_s: float = 0.5, level: bool = False) -> Witnesses:
    """Rank 1 ended in call 4, rank 3 went on to call 5; the others lost their connections to it. `level`: rank 3 had
    not gone on."""
    programs: dict[int, list[Step]] = {rank: [*loop(BODY, 4), Stop()] for rank in range(4)}
    programs[3] = programs[0] if level else loop(BODY, 5)
    job = Job({WORLD: [0, 1, 2, 3]}, programs, backend="gloo")
    witnesses = Witnesses(case_of(job, lost=[1], waited_s=waited_s))
    for rank in (0, 2, 3):
        witnesses = echo(witnesses, rank, LOST).exit(rank, 1)
    return witnesses
