"""A hundred thousand ranks of which logs alone tell: what is told of each costs no look at all others."""

from __future__ import annotations

import time

from rankandfile.evidence.load import _Logs
from rankandfile.evidence.text.logs.raw import MOST_COMPARED, LogRow, RawLog, Said
from rankandfile.reason.waits.from_logs.findings import _together
from rankandfile.reason.waits.graph import Pending, WaitEnd, build

RANKS = 40_000


def test_ends_of_waits_are_told_in_linear_time() -> None:
    few, others = tuple(range(100)), tuple(range(100, RANKS))
    began = time.process_time()
    waits = build([Pending(0, 1, few, (), others), Pending(1, 1, (5,), (7,))])
    together = _together(list(waits.wait_ends))
    assert time.process_time() - began < 20
    assert {end.kind for end in waits.wait_ends} == {"missing"}
    assert waits.wait_ends[0].victims == few
    assert [end.ranks for end in together] == [others]


def test_ends_that_one_call_lacks_are_one_fault() -> None:
    ends = [
        WaitEnd((1,), (0,), "absent", (8, 9)),
        WaitEnd((2,), (1,), "absent", (9,)),
        WaitEnd((3,), (1, 0), "absent", (7,)),
        WaitEnd((4,), (1,), "missing", (6,)),
        WaitEnd((), (1,), "joined", (5,)),
    ]
    assert _together(ends) == [
        WaitEnd((1, 3), (0, 1), "absent", (7, 8, 9)),
        WaitEnd((2,), (1,), "absent", (9,)),
        *ends[3:],
    ]


def test_what_would_be_compared_of_too_many_logs_is_not_kept() -> None:
    logs, kept = _Logs(), []
    for _ in range(MOST_COMPARED + 10):
        kept.append(RawLog(LogRow(), said=[Said(line=1, rank=None, text="a line of it")]))
        logs.came(kept[-1])
    assert not any(log.said for log in kept)
