"""What the abort of a communicator leaves `completed` is in flight, and nothing else is."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from rankandfile.evidence.flight.states import undo_aborted
from rankandfile.model.tables import STATES

#: state, let go of, seconds it took
Call = tuple[str, bool, int]


def table(calls: list[Call], op: str = "all_reduce", is_p2p: bool = False) -> pl.DataFrame:
    second = 1_000_000_000
    return pl.DataFrame(
        [
            {
                "dump": 0, "group": 0, "record": number, "seq": number, "op": op, "is_p2p": is_p2p, "state": state,
                "retired": retired, "created_ns": number, "started_ns": None, "timeout_ms": 30_000,
                "completed_ns": number + took * second if state == "completed" else None,
            }
            for number, (state, retired, took) in enumerate(calls)
        ],
        schema_overrides={"state": STATES, "started_ns": pl.Int64, "completed_ns": pl.Int64},
    )  # fmt: skip


def states(frame: pl.DataFrame) -> list[str]:
    return undo_aborted(frame)["state"].cast(pl.String).to_list()


DONE, STUCK, LEFT = ("completed", True, 0), ("issued", False, 0), ("completed", False, 1)


def test_behind_one_that_is_in_flight_nothing_has_ended() -> None:
    assert states(table([DONE, STUCK, STUCK, LEFT])) == ["completed", "issued", "issued", "issued"]


def test_what_ended_just_before_the_dump_has_ended() -> None:
    assert states(table([DONE, LEFT, STUCK])) == ["completed", "completed", "issued"]


def test_a_call_in_a_graph_holds_nothing_up() -> None:
    assert states(table([STUCK, DONE, LEFT])) == ["issued", "completed", "completed"]


def test_a_barrier_that_was_given_up() -> None:
    left = [("completed", False, 31)]
    assert states(table(left, op="all_reduce_barrier")) == ["issued"]
    assert states(table(left)) == ["completed"]
    assert states(table([LEFT], op="all_reduce_barrier")) == ["completed"]


def test_sends_have_an_order_of_their_own() -> None:
    assert states(table([STUCK, LEFT], is_p2p=True)) == ["issued", "completed"]


@given(st.lists(st.sampled_from([DONE, STUCK, LEFT])))
def test_what_was_let_go_of_stays_as_it_is(calls: list[Call]) -> None:
    frame = table(calls) if calls else table([DONE])
    after = undo_aborted(frame)
    assert after.columns == frame.columns
    assert after.filter("retired").equals(frame.filter("retired"))
    assert not (set(states(frame)) - {"completed", "issued"})
