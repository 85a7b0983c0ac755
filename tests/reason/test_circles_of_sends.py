"""Rings in which some receive first, and others send first: whoever is in either circle waits for its like."""

from __future__ import annotations

from support.reason.building import WORLD, Job, case_of
from support.reason.witnesses import C10D, Witnesses, best, blamed

from rankandfile.model.diagnosis import Verdict


def two_rings(sends_to: dict[int, int]) -> Verdict:
    """Ranks 1 and 3 receive from each other; the others send, each in several looks."""
    told = Witnesses(case_of(Job({WORLD: [0, 1, 2, 3]}, {rank: [] for rank in range(4)}), lost=[0, 1, 2, 3]))
    for rank in (1, 3):
        takes = [("recv", C10D, 2400), ("take", "/workspace/ring.py", 47)]
        told.stack(rank, takes, takes, takes, asked=f"recv: src={4 - rank}")
    for rank, to in sends_to.items():
        gives = [("send", C10D, 2350), ("give", "/workspace/ring.py", 43)]
        told.stack(rank, gives, gives, gives, asked=f"send: dst={to}")
    return best(told)


def test_who_sends_in_a_circle_beside_one_of_receives_is_no_victim_of_that() -> None:
    verdict = two_rings({0: 2, 2: 0})
    assert (verdict.cause, blamed(verdict)) == ("order_inversion", [0, 1, 2, 3])
    assert "Rank 0: sends to rank 2 before it receives" in verdict.sentence


def test_ranks_that_do_the_same_each_with_a_rank_of_its_own_are_told_of_together() -> None:
    ranks = list(range(6))
    told = Witnesses(case_of(Job({WORLD: ranks}, {rank: [] for rank in ranks}), lost=ranks))
    for rank in ranks:
        takes = [("recv", C10D, 2400), ("take", "/workspace/ring.py", 47)]
        told.stack(rank, takes, takes, takes, asked=f"recv: src={(rank - 1) % 6}")
    assert "Ranks 0-5: receive from ranks 5, 0, 1, 2, 3 and 4 before they send" in best(told).sentence


def test_who_sends_to_one_in_the_circle_waits_for_it() -> None:
    assert blamed(two_rings({0: 1, 2: 3})) == [1, 3]
