"""A rank that is in no call is said neither to wait, nor to have made one, and is not cleared by another's fault."""

from __future__ import annotations

from support.reason.building import WORLD, Call, Job, Step, case_of, loop
from support.reason.witnesses import IN_ALL_REDUCE, Witnesses, best, blamed

from rankandfile.model.case import Case
from rankandfile.model.ranks import parse_ranks
from rankandfile.render.card.strip import lines
from rankandfile.render.words import UNICODE

BODY: list[Step] = [Call(WORLD, "all_reduce", 64, "train.py:10")]


def asleep(ranks: int, backend: str = "nccl") -> Case:
    """Rank 1 makes a barrier where the others make the next all_reduce, and rank 2 has come to neither."""
    programs = {rank: loop(BODY, 6) for rank in range(ranks)}
    programs[1] = [*loop(BODY, 5), Call(WORLD, "barrier", 1, "train.py:22")]
    programs[2] = loop(BODY, 5)
    return case_of(Job({WORLD: list(range(ranks))}, programs, backend=backend))


def test_who_is_in_no_call_has_made_none_and_is_no_victim() -> None:
    for backend in ("nccl", "gloo"):
        verdict = best(Witnesses(asleep(4, backend)))
        assert blamed(verdict) == [1] and parse_ranks(verdict.victims) == [0, 3]
        assert "where ranks 0 and 3 made the all_reduce" in verdict.sentence
        assert "Rank 2 has come to neither, and the others wait for it too." in verdict.sentence
        assert "2" in [other.culprits for other in verdict.alternatives]
        assert [line.did for line in lines(verdict, 4, UNICODE) if line.who == "rank 2"] == [
            "never came to #6"
        ]


def test_where_it_stands_is_said() -> None:
    case = Witnesses(asleep(4)).stack(
        2, [("nap", "/workspace/train.py", 12), ("main", "/workspace/train.py", 30)]
    )
    assert "the others wait for it too: " in best(case).sentence


def test_who_has_not_come_makes_up_no_majority() -> None:
    """One against one: that the third went as one of them as far as it went, is nothing against the other."""
    assert blamed(best(Witnesses(asleep(3)))) == []


def test_of_those_that_all_came_nothing_more_is_said() -> None:
    programs = {rank: loop(BODY, 6) for rank in range(4)}
    programs[1] = [*loop(BODY, 5), Call(WORLD, "barrier", 1, "train.py:22")]
    verdict = best(Witnesses(case_of(Job({WORLD: [0, 1, 2, 3]}, programs))))
    assert parse_ranks(verdict.victims) == [0, 2, 3] and "come to neither" not in verdict.sentence


def test_who_is_seen_in_the_call_has_come_though_its_records_are_not_here() -> None:
    """By its stack, which is that of those who wait in the call."""
    programs = {rank: loop(BODY, 6) for rank in range(4)}
    programs[1] = [*loop(BODY, 5), Call(WORLD, "barrier", 1, "train.py:22")]
    witnesses = Witnesses(case_of(Job({WORLD: [0, 1, 2, 3]}, programs), lost=[3]))
    for rank in (0, 2, 3):
        witnesses = witnesses.stack(rank, IN_ALL_REDUCE)
    assert "where ranks 0, 2 and 3 made the all_reduce" in best(witnesses).sentence


def test_who_waits_for_somebody_else_is_not_said_to_be_awaited_in_vain() -> None:
    """Rank 2 stands in a receive that no recorder keeps: it waits as the others do."""
    stand = [("recv", "/lib/torch/distributed/distributed_c10d.py", 9), ("take", "/workspace/links.py", 22)]
    assert "come to neither" not in best(Witnesses(asleep(4)).stack(2, stand)).sentence
