"""A circle of waits in which somebody made a call that the others never make: nobody else may be blamed for it."""

from __future__ import annotations

import pytest
from support.reason.building import Call, Job, Step, case_of, loop
from support.reason.witnesses import Witnesses, blamed

from rankandfile.model.case import Case
from rankandfile.reason import diagnose

WORLD = "0"
GROUPS = {WORLD: list(range(8)), "even": [0, 2, 4, 6], "odd": [1, 3, 5, 7]}
WRITERS = (0, 1)


def saved(usual: bool = False, members: bool = True, **more: object) -> Case:
    """Two ranks wait at a barrier after saving, and the others in the next step, for those two.

    `usual`: all of them came to that barrier once before.
    """
    programs: dict[int, list[Step]] = {}
    for rank in range(8):
        mine = "odd" if rank % 2 else "even"
        step: list[Step] = [Call(mine, "all_reduce", 64, "gradients.py:10")]
        barrier: list[Step] = [Call(WORLD, "barrier", 1, "checkpoint.py:14")]
        programs[rank] = [
            Call(WORLD, "all_reduce", 8, "train.py:5"),
            *loop(step, 6),
            *(barrier if usual else []),
            *loop(step, 6),
            *(barrier if rank in WRITERS else []),
            *step,
        ]
    return case_of(Job(GROUPS, programs, backend="gloo"), members=members, **more)  # type: ignore[arg-type]


def test_whole_rings_show_who_made_the_call_that_nobody_else_makes() -> None:
    assert blamed(diagnose(saved()).verdicts[0]) == [0, 1]


@pytest.mark.parametrize("members", [True, False])
@pytest.mark.parametrize("ring", [1, 2, 3, 5])
def test_rings_that_lost_their_beginning_do_not_make_it_an_order_of_all(ring: int, members: bool) -> None:
    for verdict in diagnose(saved(ring=ring, members=members)).verdicts:
        assert set(blamed(verdict)) <= set(WRITERS)
        assert "No order is that of most ranks" not in verdict.sentence


def test_who_has_not_come_by_its_log_alone_may_wait_in_turn() -> None:
    """Nothing tells that rank 7 is a member of the group that its like wait in."""
    witnesses = Witnesses(saved(members=False, lost=[7]))
    for rank in WRITERS:
        witnesses = witnesses.gave_up(rank, 2)
    witnesses = witnesses.answered(7, 1)
    for verdict in diagnose(witnesses.case).verdicts:
        assert set(blamed(verdict)) <= set(WRITERS)


def test_who_may_wait_for_those_that_wait_for_it_is_not_the_end_of_the_trail() -> None:
    """Rank 1 waits for rank 7, which may wait for rank 1, as rank 3 does: its dump is lost."""
    groups = {WORLD: [1, 7], "odd": [1, 3, 7]}
    step: list[Step] = [Call("odd", "all_reduce", 64, "gradients.py:10")]
    programs: dict[int, list[Step]] = {rank: [*loop(step, 4), *step] for rank in (3, 7)}
    programs[1] = [*loop(step, 4), Call(WORLD, "barrier", 1, "checkpoint.py:14"), *step]
    witnesses = (
        Witnesses(case_of(Job(groups, programs, backend="gloo"), lost=[7])).gave_up(1, 1).answered(7, 0)
    )
    for verdict in diagnose(witnesses.case).verdicts:
        assert 7 not in blamed(verdict)


def test_who_raised_is_not_doubted_because_it_is_a_member_of_what_waits_in_turn() -> None:
    """Rank 3 raised and is in its teardown, rank 2 waits for it, and the others for rank 2: its dump is lost."""
    groups = {WORLD: [0, 1, 2, 3], "tp": [2, 3]}
    body: list[Step] = [Call(WORLD, "all_reduce", 64, "trainer.py:63")]
    programs: dict[int, list[Step]] = {rank: loop(body, 5) for rank in (0, 1)}
    for rank in (2, 3):
        programs[rank] = [*loop(body, 4), Call("tp", "all_reduce", 8, "layers.py:4"), *body]
    programs[3] = loop(body, 4)
    witnesses = Witnesses(case_of(Job(groups, programs, backend="gloo"), lost=[3]))
    verdict = diagnose(witnesses.raised(3, "KeyError: -100").exit(3, "SIGTERM").case).verdicts[0]
    assert (verdict.cause, blamed(verdict)) == ("raised", [3])
