"""Jobs over gloo, whose recorder keeps no transfers."""

from __future__ import annotations

from support.reason.building import WORLD, Call, Job, Step, case_of, hidden, loop
from support.reason.witnesses import C10D, Witnesses

STEP: list[Step] = [Call(WORLD, "all_reduce", 64, "a.py:5"), Call(WORLD, "all_gather", 8, "a.py:9")]


def gloo(ranks: int = 3, op: str = "all_reduce") -> Witnesses:
    body: list[Step] = [Call(WORLD, op, 64, "a.py:5")]
    programs = {rank: loop(body, 4) for rank in range(ranks)}
    return Witnesses(
        case_of(Job({WORLD: list(range(ranks))}, programs, backend="gloo", stalled=frozenset({(WORLD, 4)})))
    )


def transfers(*lines: int) -> Witnesses:
    """Every call has ended long ago, and each rank sits in a receive."""
    programs = {rank: loop(STEP, 2) for rank in range(len(lines))}
    case = hidden(case_of(Job({WORLD: list(range(len(lines)))}, programs, backend="gloo")))
    witnesses = Witnesses(case)
    for rank, line in enumerate(lines):
        witnesses.stack(rank, [("recv", C10D, 2799), ("receive", "/workspace/transfer.py", line)])
    return witnesses
