"""Of a circle of a call of all and one of a small group: whoever came to the first without the second."""

from __future__ import annotations

import pytest
from support.reason.building import WORLD, Call, Job, Step, case_of
from support.reason.witnesses import C10D, Witnesses, best, blamed

MEAN = Call(WORLD, "all_reduce", 192, "train.py:20")


def circle(
    of_others: int = 2, of_mate: int = 2, rounds_of_mates: int = 2, rounds: list[list[int]] | None = None
) -> Witnesses:
    """Two groups of two exchange twice a round; in the last, rank 3 comes to the mean without its second exchange, and
    its dump is lost. The others' numbers of exchanges in the last round, and those of ranks 2 and 3 in each before;
    `rounds`: those of either group in the rounds before."""
    groups = {WORLD: [0, 1, 2, 3], "e0": [0, 1], "e1": [2, 3]}
    programs: dict[int, list[Step]] = {}
    for rank in range(4):
        exchange = Call(f"e{rank // 2}", "all_to_all", 64, "moe.py:10")
        numbers = (rounds or [[2] * 3, [rounds_of_mates] * 3])[rank // 2]
        before: list[Step] = [step for number in numbers for step in (*[exchange] * number, MEAN)]
        last = {0: of_others, 1: of_others, 2: of_mate, 3: of_mate - 1}[rank]
        programs[rank] = [*before, *[exchange] * last, *([] if rank == 2 else [MEAN])]
    job = Job(groups, programs, backend="gloo", descs={"e0": "expert", "e1": "expert"})
    told = Witnesses(case_of(job, lost=[3]))
    for rank in (0, 1, 3):
        told.stack(rank, [("all_reduce", C10D, 3252), ("step", "/workspace/train.py", 20)])
    return told.stack(2, [("all_to_all_single", C10D, 4700), ("step", "/workspace/moe.py", 10)])


def test_who_came_to_the_call_of_all_without_the_one_that_its_mate_waits_in_has_left_it_out() -> None:
    verdict = best(circle())
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("skipped_collective", "supported", [3])
    assert "rank 3 came there without the all_to_all" in verdict.sentence


def test_where_the_others_made_fewer_the_mate_may_have_made_one_too_many() -> None:
    assert blamed(best(circle(of_others=1))) == []


def test_a_group_that_did_otherwise_in_each_round_is_no_measure() -> None:
    assert blamed(best(circle(of_mate=3, of_others=8, rounds_of_mates=3))) == []


@pytest.mark.parametrize(
    ("of_others", "of_mate", "rounds"),
    [
        # As many in all, but not in each round.
        (2, 2, [[3, 1, 2], [1, 3, 2]]),
        # More than ever: that group may have had more to do in this round.
        (5, 3, [[2, 2, 2], [2, 2, 2]]),
        # And none before.
        (4, 1, [[0, 0, 0], [0, 0, 0]]),
    ],
)
def test_groups_that_do_not_do_the_same_in_each_round_are_no_measure(
    of_others: int, of_mate: int, rounds: list[list[int]]
) -> None:
    assert blamed(best(circle(of_others, of_mate, rounds=rounds))) == []


def all_but(line_of_pairs: int, *, left_out: bool = False) -> Witnesses:
    """Four ranks reduce in the group of everybody, then in pairs; rank 2, whose dump is lost, does it the other way
    about, or waits in its pair for rank 3, which has left that out. All were seen at line 20."""
    groups = {"all": [0, 1, 2, 3], "p0": [0, 1], "p1": [2, 3]}
    programs: dict[int, list[Step]] = {}
    for rank in range(4):
        everybody = Call("all", "all_reduce", 192, "train.py:20")
        pair = Call(f"p{rank // 2}", "all_reduce", 64, f"train.py:{line_of_pairs}")
        last: list[Step] = [pair, everybody] if rank == 2 and not left_out else [everybody, pair]
        if left_out:
            last = [everybody, everybody] if rank == 3 else [everybody, pair, everybody]
        programs[rank] = [*[everybody, pair] * 3, *last]
    job = Job(groups, programs, backend="gloo", descs={"all": "all", "p0": "pair", "p1": "pair"})
    told = Witnesses(case_of(job, lost=[2], members=False))
    for rank in range(4):
        told.stack(rank, [("all_reduce", C10D, 3252), ("step", "/workspace/train.py", 20)])
    return told


def test_a_call_of_gloo_that_all_but_one_are_in_lacks_that_one() -> None:
    verdict = best(all_but(line_of_pairs=20))
    assert (verdict.confidence, blamed(verdict)) == ("supported", [2])
    assert "gloo ends a call in which all its members are" in verdict.sentence


def test_who_stands_where_that_call_alone_is_made_is_in_it() -> None:
    assert blamed(best(all_but(line_of_pairs=30))) == []


def test_where_one_that_waits_has_left_out_a_call_the_lost_one_may_wait_in_that() -> None:
    assert blamed(best(all_but(line_of_pairs=20, left_out=True))) == []
