"""Two columns of a mesh: what one of a pair left out long ago is answered by the call that it makes a round later."""

from __future__ import annotations

import pytest
from support.reason.building import Call, Job, Step, case_of
from support.reason.witnesses import Witnesses, best, blamed

ROWS = {"rows_0": [0, 1], "rows_1": [2, 3]}
COLUMNS = {"columns_0": [0, 2], "columns_1": [1, 3]}


def program(rank: int, rounds: int, without: tuple[int, ...], last: str) -> list[Step]:
    row, column = f"rows_{rank // 2}", f"columns_{rank % 2}"
    average, clip = Call(column, "all_reduce", 64, "optim.py:20"), Call(row, "all_reduce", 1, "optim.py:29")
    steps: list[Step] = []
    for nth in range(rounds):
        steps += [average] if nth in without else [average, clip]
    return [*steps, Call(row, "all_gather", 9, "optim.py:50")] if last else steps


def pairs(left_out: tuple[int, ...], later: tuple[int, ...] = ()) -> Witnesses:
    """The even ranks leave a clip out in these rounds, the odd ones in those; the even ones come to the save first."""
    programs = {r: program(r, 20, left_out if r % 2 == 0 else later, last="save") for r in range(4)}
    return Witnesses(case_of(Job(ROWS | COLUMNS, programs)))


@pytest.mark.parametrize("later", [(), (15,)], ids=["the other never", "the other later"])
def test_who_left_the_rounds_of_both_first_is_behind_what_parts_them(later: tuple[int, ...]) -> None:
    verdict = best(pairs((9, 12), later))
    assert (blamed(verdict), verdict.cause) == ([0], "skipped_collective"), verdict.sentence
    assert verdict.divergence is not None and verdict.divergence.seq == 10


def test_without_rounds_before_it_nobody_did() -> None:
    assert blamed(best(pairs((2, 4)))) == []
