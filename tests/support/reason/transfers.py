"""Stages of a pipeline, which send to each other."""

from __future__ import annotations

from support.reason.building import WORLD, Call, Job, Step, loop

SYNC = Call(WORLD, "all_reduce", 1, "optimizer.py:24")


def send(peer: int) -> Call:
    return Call("pp", "send", 64, "pipeline.py:70", peer=peer)


def recv(peer: int) -> Call:
    return Call("pp", "recv", 64, "pipeline.py:76", peer=peer)


def pipeline(rank: int, stages: int) -> list[Step]:
    forward: list[Step] = [recv(rank - 1)] * (rank > 0) + [send(rank + 1)] * (rank < stages - 1)
    backward: list[Step] = [recv(rank + 1)] * (rank < stages - 1) + [send(rank - 1)] * (rank > 0)
    return [*forward, *forward, *backward, *backward, SYNC]


def job(stages: int = 4, steps: int = 5) -> Job:
    ranks = list(range(stages))
    return Job({WORLD: ranks, "pp": ranks}, {r: loop(pipeline(r, stages), steps) for r in ranks})
