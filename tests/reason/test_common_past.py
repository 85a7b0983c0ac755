"""A rank without a dump shares the past of those that left one: what was due, and who may be a missing member."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from support.reason.building import WORLD, Call, Hold, Job, Step, case_of, loop
from support.reason.witnesses import Witnesses, best, blamed, suspected

C10D = "/venv/torch/distributed/distributed_c10d.py"
SUM = Call(WORLD, "all_reduce", 64, "trainer.py:63")
LOSS = Call(WORLD, "all_reduce", 1, "trainer.py:70")
ROUND: list[Step] = [SUM, LOSS]


def one_skipped(body: list[Step], lost: int, instead: Call, rounds: int = 5) -> Witnesses:
    """Of two ranks, rank 1 makes another call than what is due after so many rounds; one dump is lost."""
    programs = {0: loop(body, rounds + 2), 1: [*loop(body, rounds), instead, *loop(body, 1)]}
    return Witnesses(case_of(Job({WORLD: [0, 1]}, programs), lost=[lost]))


def said(witnesses: Witnesses, rank: int, seq: int, call: Call) -> Witnesses:
    """The watchdog of the rank gave up on this call, at this line."""
    file, _, line = call.site.partition(":")
    way = [["all_reduce", C10D, 3252], ["step", f"/workspace/{file}", int(line)]]
    witnesses.gave_up(rank, seq, call.op.replace("_", "").upper(), call.size)
    return witnesses.event(
        "failed_stack", "messenger", rank, group_name="0", group_desc="0", seq=seq, frames=way
    )


@pytest.mark.parametrize("lost", [0, 1])
def test_whoever_makes_another_call_than_was_due_departed_whichever_dump_is_lost(lost: int) -> None:
    told = one_skipped(ROUND, lost, LOSS)
    told = said(said(told, 0, 11, SUM), 1, 11, LOSS)
    verdict = best(told)
    assert (blamed(verdict), verdict.confidence) == ([1], "supported")
    assert "is due" in verdict.sentence


def test_a_call_that_nobody_made_before_may_be_due_for_all() -> None:
    new = Call(WORLD, "all_reduce", 7, "evaluate.py:9")
    verdict = best(said(said(one_skipped(ROUND, 1, new), 0, 11, SUM), 1, 11, new))
    assert (blamed(verdict), suspected(verdict)) == ([], [1])


def test_a_round_of_one_kind_of_call_says_nothing_of_what_is_due() -> None:
    """Whoever left one of them out long ago would be at another number, and nobody would have seen it."""
    new = Call(WORLD, "all_reduce", 7, "evaluate.py:9")
    verdict = best(said(said(one_skipped([SUM], 1, new, 9), 0, 10, SUM), 1, 10, new))
    assert (blamed(verdict), suspected(verdict)) == ([], [])


def test_sizes_that_the_data_make_do_not_tell_where_in_the_round_all_are() -> None:
    """The last two images were as large as the last two of an earlier round: this one is not over for that."""

    def images(*sizes: int) -> list[Step]:
        meet = Call(WORLD, "all_reduce", 1, "evaluate.py:30")
        return [s for size in sizes for s in (meet, Call(WORLD, "all_gather", size, "evaluate.py:33"))]

    before = [*images(1, 2, 3, 4), SUM, *images(5, 7, 7, 7), SUM, *images(7, 7)]
    programs: dict[int, list[Step]] = {0: [*before, *images(9, 4), SUM], 1: [*before, SUM]}
    told = Witnesses(case_of(Job({WORLD: [0, 1]}, programs), lost=[1]))
    verdict = best(said(told, 1, len(before) + 1, SUM))
    assert 0 not in blamed(verdict) + suspected(verdict), verdict.sentence


PART = Call("1", "all_reduce", 10, "average.py:5")
ALL = Call(WORLD, "all_gather", 4, "meet.py:14")
IN_PART = [("all_reduce", C10D, 3252), ("average", "/workspace/average.py", 5)]
IN_ALL = [("all_gather", C10D, 4000), ("meet", "/workspace/meet.py", 14)]


def three_of_four(skips: int | None, lost: int) -> Witnesses:
    """Ranks 0, 1 and 2 sum in a group whose members nobody recorded, and all meet; one left the sum out."""
    whole: list[Step] = [PART, ALL]
    programs: dict[int, list[Step]] = {rank: loop(whole, 6) for rank in range(3)}
    programs[3] = loop([ALL], 6)
    if skips is not None:
        programs[skips] = [*loop(whole, 3), ALL, *loop(whole, 2)]
    job = Job({WORLD: [0, 1, 2, 3], "1": [0, 1, 2]}, programs, backend="gloo")
    case = case_of(job, lost=[lost], members=False)
    told = Witnesses(replace(case, world_size=4))
    for rank in range(4):
        told.stack(rank, IN_PART if skips is not None and rank in (0, 1) else IN_ALL)
    return told


def test_a_call_that_all_recorded_members_joined_lacks_the_rank_without_a_dump() -> None:
    verdict = best(three_of_four(2, lost=2))
    assert (verdict.cause, blamed(verdict)) == ("skipped_collective", [2])
    assert "left no dump" in verdict.sentence
    assert "network_stalled" in [other.cause for other in verdict.alternatives]


def test_a_lost_dump_does_not_make_a_member_of_who_stands_elsewhere() -> None:
    """Rank 3 never was in that group, and the one that left the call out has its dump."""
    assert 3 not in blamed(best(three_of_four(2, lost=3)))


def test_a_rank_without_a_dump_that_waits_with_the_others_is_no_missing_member() -> None:
    programs: dict[int, list[Step]] = {rank: [*loop([PART, ALL], 3), PART, Hold()] for rank in range(3)}
    job = Job({WORLD: [0, 1, 2], "1": [0, 1, 2]}, programs, backend="gloo", stalled=frozenset({("1", 4)}))
    told = Witnesses(replace(case_of(job, lost=[2], members=False), world_size=3))
    for rank in range(3):
        told.stack(rank, IN_PART)
    assert blamed(best(told)) == []


def test_sizes_that_come_in_turn_in_one_line_tell_what_is_due() -> None:
    """Two models' gradients are summed up by one helper: who left one of them out is at the other's."""
    actor = Call(WORLD, "all_reduce", 697, "wire.py:14")
    critic = Call(WORLD, "all_reduce", 146, "wire.py:14")
    told = one_skipped([actor, critic], 1, critic)
    verdict = best(said(said(told, 0, 11, actor), 1, 11, critic))
    assert (blamed(verdict), verdict.confidence) == ([1], "supported")


@pytest.mark.parametrize(
    ("ways", "named"),
    [((LOSS, LOSS, SUM), []), ((SUM, LOSS, SUM), [1])],
    ids=["most make another", "most make what is due"],
)
def test_what_is_due_against_most_of_all_names_nobody(ways: tuple[Call, ...], named: list[int]) -> None:
    """As well the two are right, upon what comes seldom, as the one is that goes on as in the rounds before."""
    programs: dict[int, list[Step]] = {rank: [*loop(ROUND, 5), call, LOSS] for rank, call in enumerate(ways)}
    told = Witnesses(case_of(Job({WORLD: [0, 1, 2]}, programs), lost=[2]))
    for rank, call in enumerate(ways):
        told = said(told, rank, 11, call)
    verdict = best(told)
    assert (verdict.hang, blamed(verdict), suspected(verdict)) == (True, named, [])
