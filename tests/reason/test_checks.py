"""Torch's own checks and NCCL's RAS, where there is nothing else: heard only where they surely speak of ranks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from support.reason.witnesses import IN_LOADER, Witnesses, best, blamed

from rankandfile.model.case import Case

WORLD = 8


def logs(world: int | None = WORLD) -> Witnesses:
    """Nothing but a log per rank."""
    witnesses = Witnesses(Case(world_size=world))
    for rank in range(world or WORLD):
        witnesses.log(rank, rank)
    return witnesses


def compared(witnesses: Witnesses, odd: dict[int, dict[str, Any]], ranks: range = range(WORLD)) -> Witnesses:
    """Every rank compares its call with that of one other."""
    usual = {"seq": 217, "op": "ALLREDUCE", "sizes": "64", "dtype": "Float"}
    for rank in ranks:
        peer = (rank + 1) % WORLD
        own, theirs = {**usual, **odd.get(rank, {})}, {**usual, **odd.get(peer, {})}
        peers = {f"peer_{name}": value for name, value in theirs.items()}
        witnesses.event(
            "wrapper_mismatch", "messenger", rank, group_rank=rank, about=[peer], about_in="group", **own, **peers
        )  # fmt: skip
    return witnesses


@pytest.mark.parametrize(
    ("odd", "cause"),
    [
        ({"sizes": "32"}, "size_mismatch"),
        ({"dtype": "Half"}, "dtype_mismatch"),
        ({"op": "BROADCAST"}, "different_collective"),
        ({"seq": 216}, "skipped_collective"),
        ({"seq": 218}, "extra_collective"),
    ],
)
def test_the_wrapper_compared_and_one_is_out_of_line(odd: dict[str, Any], cause: str) -> None:
    verdict = best(compared(logs(), {5: odd}))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == (cause, "supported", [5])
    assert verdict.evidence


def test_one_against_one_names_nobody() -> None:
    assert blamed(best(compared(logs(), {r: {"sizes": "32"} for r in range(4)}))) == []


def test_a_comparison_inside_a_smaller_group_names_nobody() -> None:
    """Its numbers are of the group, and nothing tells which ranks of the job those are."""
    assert blamed(best(compared(logs(), {1: {"sizes": "32"}}, range(3)))) == []


def desync(witnesses: Witnesses, late: list[int], joined: list[int], writer: int = 0) -> Witnesses:
    return witnesses.event(
        "desync_report", "messenger", writer, group_rank=writer, about=late, about_in="group",
        snapshot=[{"number": 88, "ranks": joined, "state": "started", "op": "ALLREDUCE"}],
    )  # fmt: skip


def test_the_desync_report_names_who_never_joined() -> None:
    verdict = best(desync(logs(), [6], [0, 1, 2, 3, 4, 5, 7]))
    assert (blamed(verdict), verdict.confidence) == ([6], "supported")
    stuck = best(desync(logs(), [6], [0, 1, 2, 3, 4, 5, 7]).stack(6, IN_LOADER, IN_LOADER))
    assert (blamed(stuck), stuck.cause) == ([6], "host_blocked")


def test_a_desync_report_of_part_of_the_job_names_nobody() -> None:
    assert blamed(best(desync(logs(), [1], [0, 2, 3]))) == []
    assert blamed(best(desync(logs(), [1, 2, 3, 4, 5, 6], [0, 7]))) == []


def ras(
    witnesses: Witnesses, odd: dict[int, int], *, log: int = 70, size: int = WORLD, pid: int = 0
) -> Witnesses:
    listed = [{"rank": r, "count": n, "pid": pid or 5000 + r, "host": "node01"} for r, n in odd.items()]
    witnesses.event(
        "ras_mismatch", "fact", None, op="AllReduce", comm_id="5c1e", listed=listed,
        majority=[{"ranks": size - len(odd), "count": 912}], about=sorted(odd), about_in="group",
    )  # fmt: skip
    last = witnesses.case.events.height - 1
    number = pl.when(pl.int_range(pl.len()) == last).then(pl.lit(log)).otherwise("log").cast(pl.UInt32)
    events = witnesses.case.events.with_columns(log=number)
    witnesses.case = replace(witnesses.case, events=events)
    return witnesses.log(log, None)


def test_two_equal_answers_of_ras_name_who_is_behind() -> None:
    verdict = best(ras(ras(logs(), {6: 911}), {6: 911}, log=71))
    assert blamed(verdict) == [6]
    assert "912 launches of AllReduce on 7 ranks and 911 on rank 6" in verdict.sentence


def test_one_answer_of_a_job_that_may_move_names_nobody() -> None:
    assert blamed(best(ras(logs(), {6: 911}))) == []
    assert blamed(best(ras(ras(logs(), {6: 911}), {6: 915}, log=71))) == []


def test_ahead_is_not_behind() -> None:
    assert blamed(best(ras(ras(logs(), {6: 913}), {6: 913}, log=71))) == []


def test_a_smaller_communicators_numbers_are_no_ranks_unless_the_process_tells() -> None:
    small = ras(ras(logs(), {1: 911}, size=4), {1: 911}, size=4, log=71)
    assert blamed(best(small)) == []
    known = logs().exit(5, "running")
    known = ras(ras(known, {1: 911}, size=4, pid=1005), {1: 911}, size=4, pid=1005, log=71)
    assert blamed(best(known)) == [5]


def test_half_against_half_names_nobody() -> None:
    odd = {4: 911, 5: 911, 6: 911, 7: 911}
    assert blamed(best(ras(ras(logs(), odd), odd, log=71))) == []
