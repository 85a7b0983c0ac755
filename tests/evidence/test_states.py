"""What a recorded state means, for each producer: the table in one place, checked row by row."""

from __future__ import annotations

from typing import Any

import pytest
from support.evidence.sample_dumps import NOW, call, case_of, one_rank, with_calls

from rankandfile.lab.flight_writer_types import Entry, Kind
from rankandfile.model.case import Case

STARTED, DONE = NOW + 5, NOW + 9


def states(case: Case) -> list[str]:
    return case.calls.sort("record")["state"].to_list()


@pytest.mark.parametrize(
    ("backend", "timing", "retired", "state"),
    [
        # A device backend: events prove the start and the end.
        ("nccl", {}, False, "issued"),
        ("nccl", {"started_ns": STARTED}, False, "started"),
        ("nccl", {"started_ns": STARTED, "completed_ns": DONE}, False, "completed"),
        ("nccl", {"started_ns": STARTED, "completed_ns": DONE}, True, "completed"),
        # Timing off: the end is noticed, the start is not.
        ("nccl", {"completed_ns": DONE}, True, "completed"),
        # Let go of without a word on how it ended: an abort, or a failure.
        ("nccl", {"started_ns": STARTED}, True, "ended"),
        ("xccl", {}, True, "ended"),
        # gloo has no events: retired is all it tells, of success and failure alike.
        ("gloo", {}, False, "issued"),
        ("gloo", {}, True, "ended"),
    ],
)
def test_single_calls(backend: str, timing: dict[str, Any], retired: bool, state: str) -> None:
    kind = Kind(0, "0", "default_pg", f"{backend}:all_reduce")
    case = case_of({0: with_calls(one_rank(0), (kind, call(0, retired=retired, **timing)))})
    assert states(case) == [state]
    assert case.calls["retired"].to_list() == [retired]


@pytest.mark.parametrize(
    ("entry", "timing"),
    [
        (call(0), False),
        (call(0, completed_ns=DONE, retired=True), False),
        (call(0, started_ns=STARTED), True),
        (call(0, completed_ns=DONE, duration_ms=1.0), True),
    ],
)
def test_whether_starts_were_recorded(entry: Entry, timing: bool) -> None:
    """Only with timing on does `issued` mean that the device had not begun."""
    kind = Kind(0, "0", "default_pg", "nccl:all_reduce")
    case = case_of({0: with_calls(one_rank(0), (kind, entry))})
    assert case.dumps["timing"].to_list() == [timing]


class TestBatches:
    """Calls inside a batch carry no events of their own: the call that closes the batch speaks for them."""

    SEND = Kind(0, "0", "default_pg", "nccl:send 0->1", is_p2p=True)
    RECV = Kind(0, "0", "default_pg", "nccl:recv 0<-1", is_p2p=True)
    END = Kind(0, "0", "default_pg", "nccl:coalesced", is_p2p=True)
    GATHER = Kind(0, "0", "default_pg", "nccl:_all_gather_base")
    GATHER_END = Kind(0, "0", "default_pg", "nccl:ALLGATHER_coalesced")

    def batch(self, record: int, seq: int, p2p: int, **end: Any) -> list[tuple[Kind, Entry]]:
        return [
            (self.SEND, call(record, seq, p2p, op_id=record)),
            (self.RECV, call(record + 1, seq, p2p, op_id=record + 1)),
            (self.END, call(record + 2, seq, p2p, op_id=record + 2, **end)),
        ]

    def test_each_takes_the_state_and_times_of_its_own_batch(self) -> None:
        calls = [
            *self.batch(0, 1, 1, started_ns=STARTED, completed_ns=DONE, retired=True),
            *self.batch(3, 2, 2, started_ns=STARTED + 20),
            *self.batch(6, 3, 3),
        ]
        case = case_of({0: with_calls(one_rank(0), *calls)})
        assert states(case) == ["completed"] * 3 + ["started"] * 3 + ["issued"] * 3
        assert case.calls["started_ns"].to_list() == [STARTED] * 3 + [STARTED + 20] * 3 + [None] * 3
        assert case.calls["completed_ns"].to_list() == [DONE] * 3 + [None] * 6

    def test_the_older_generation_names_the_operation(self) -> None:
        inside = [(self.GATHER, call(record, 4, op_id=record)) for record in range(3)]
        end = (self.GATHER_END, call(3, 4, op_id=3, completed_ns=DONE, retired=True))
        case = case_of({0: with_calls(one_rank(0), *inside, end)})
        assert states(case) == ["completed"] * 4

    def test_without_its_end_a_batch_is_issued(self) -> None:
        case = case_of({0: with_calls(one_rank(0), *self.batch(0, 1, 1, completed_ns=DONE)[:2])})
        assert states(case) == ["issued", "issued"]

    def test_the_end_of_another_rank_or_group_speaks_for_nobody_else(self) -> None:
        other = self.END._replace(group="1", desc="mesh_tp", pg_id=1)
        mine = [*self.batch(0, 1, 1)[:2], (other, call(2, 1, 1, completed_ns=DONE))]
        theirs = self.batch(0, 1, 1, completed_ns=DONE)
        case = case_of({0: with_calls(one_rank(0), *mine), 1: with_calls(one_rank(1), *theirs)})
        found = dict(case.calls.group_by("rank").agg("state").iter_rows())
        assert found == {0: ["issued", "issued", "completed"], 1: ["completed"] * 3}

    def test_a_call_after_the_end_is_not_in_the_batch(self) -> None:
        late = (self.SEND, call(3, 1, 1))
        case = case_of({0: with_calls(one_rank(0), *self.batch(0, 1, 1, completed_ns=DONE), late)})
        assert states(case) == ["completed"] * 3 + ["issued"]

    def test_a_repeated_end_doubles_no_call(self) -> None:
        again = (self.END, call(5, 1, 1))
        case = case_of({0: with_calls(one_rank(0), *self.batch(0, 1, 1, completed_ns=DONE), again)})
        assert states(case) == ["completed"] * 3 + ["issued"]
        assert case.calls.height == 4
