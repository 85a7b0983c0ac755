"""A line that one rank alone wrote tells what it did where the others wait long for it, and no hang by itself."""

from __future__ import annotations

import pytest
from support.reason.building import WORLD, Call, Job, Stop, case_of, loop
from support.reason.witnesses import Witnesses, best, blamed, suspected

STEP = Call(WORLD, "all_reduce", 4, "train.py:29")
SIGNAL = "got signal 1: settings are read again"


@pytest.mark.parametrize("waited_s", [0.1, 700])
def test_a_signal_that_one_rank_logged_is_no_hang(waited_s: float) -> None:
    programs = {rank: loop([STEP], 40) for rank in range(3)}
    programs[1] = [*programs[1][:-1], Stop()]
    job = Job({WORLD: [0, 1, 2]}, programs, backend="gloo")
    seen = Witnesses(case_of(job, waited_s=waited_s))
    seen.event("line_alone", "fact", 1, SIGNAL, others=2)
    verdict = best(seen.case)
    if waited_s > 1:
        assert (verdict.cause, blamed(verdict)) == ("early_exit", [1])
    else:
        assert not blamed(verdict) and verdict.hang is None and suspected(verdict) in ([], [1])
