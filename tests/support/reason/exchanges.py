"""An exchange of which the sums disagree."""

from __future__ import annotations

from rankandfile.model.diagnosis import Verdict
from rankandfile.reason import diagnose
from support.reason.building import START, WORLD, Call, Job, Step, case_of, loop
from support.reason.witnesses import Witnesses


def exchange(*said: tuple[int, str, float], given: int = 16) -> Verdict:
    """Four members in one all_to_all; rank 2 gives as much as told. `said`: rank, line, seconds before the call."""
    programs: dict[int, list[Step]] = {}
    for rank in range(4):
        last = ([[given if rank == 2 else 16]], [[16]])
        programs[rank] = [
            *loop([Call(WORLD, "all_reduce", 64, "a.py:5")], 3),
            Call(WORLD, "all_to_all", 16, "a.py:9", sizes=last),
        ]
    witnesses = Witnesses(case_of(Job({WORLD: [0, 1, 2, 3]}, programs, stalled=frozenset({(WORLD, 4)}))))
    for rank, line, before_s in said:
        at = START + 30_000_000 - int(before_s * 1e9)
        witnesses.event("left_out", "fact", rank, line, time_ns=at)
    return diagnose(witnesses.case).verdicts[0]
