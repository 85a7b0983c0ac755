"""Plans between real processes over gloo: what is decided, and how soon a rank that goes its own way is told."""

from __future__ import annotations

import time

import pytest
from support.later import Later
from support.runtime.gloo_ranks import Rank, Ranks

from rankandfile.runtime.plan.watch import ENDED

programs = Later("support.runtime.plan_programs")

pytestmark = [pytest.mark.slow, pytest.mark.torch]


def told(rank: Rank) -> str:
    return rank.message + rank.out


def all_end(found: list[Rank], *texts: str) -> None:
    """By the error, or in the middle of a wait; each says the same."""
    for rank in found:
        if rank.returned == []:
            continue  # it has gone
        assert rank.raised == "OutOfPlan" or rank.exit == ENDED, rank.out
        for text in (*texts, "rank 1 left the plan"):
            assert text in told(rank)


def test_a_healthy_loop_of_steps_runs_to_its_end(ranks: Ranks) -> None:
    assert [rank.returned for rank in ranks.run(3, programs.loop, "right")] == [[programs.STEPS, 0]] * 3


@pytest.mark.parametrize(
    ("how", "site"),
    [
        ("leaves the loop", "barrier from plan_programs.py:"),
        ("leaves the step", "the step ended"),
        ("calls more", "in loop"),
        ("evaluates alone", "in evaluate < "),
        ("goes", "ended its groups at plan_programs.py:"),
    ],
)
def test_who_goes_another_way_is_told_with_both_paths(ranks: Ranks, how: str, site: str) -> None:
    all_end(ranks.run(3, programs.loop, how, limit=60), site, "allreduce from plan_programs.py:")


def test_what_a_rank_is_about_to_do_is_never_done(ranks: Ranks) -> None:
    """It raises on the rank itself: a call that is out of the learned plan asks nobody."""
    found = ranks.run(3, programs.loop, "calls more", limit=60)
    assert found[1].raised == "OutOfPlan" and found[1].odd == [1]
    assert "step 5: call 1 on world [0-2] is out of plan" in found[1].message
    assert "planned: allreduce from plan_programs.py:" in found[1].message


@pytest.mark.parametrize("libuv", ["0", "1"])
def test_decisions_are_everybodys(ranks: Ranks, libuv: str) -> None:
    """Whichever server the job's store has: the two wake those who wait for a key on different occasions."""
    found = ranks.run(3, programs.decided, limit=60, USE_LIBUV=libuv)
    assert found[0].returned == found[1].returned == found[2].returned
    made = found[0].returned
    assert [step["stop"] for step in made] == [False] * 5 + [True]
    assert [step["ready"] for step in made] == [True, True, True, False, True, True]
    assert {step["batches"] for step in made} == {2} and {step["most"] for step in made} == {2}
    assert [step["save"] for step in made] == [False, False, True, False, False, False]


def test_what_is_measured_leaves_a_step_of_its_kind(ranks: Ranks) -> None:
    """Else each step would be the first of a kind, and a call more of it no departure from any plan."""
    assert [rank.returned for rank in ranks.run(2, programs.measured, -1)] == [programs.STEPS] * 2
    found = ranks.run(2, programs.measured, 6, limit=60)
    assert {rank.raised for rank in found if rank.exit != ENDED} == {"OutOfPlan"}
    assert any("step 6: call 4 on world [0-1] is out of plan" in told(rank) for rank in found), told(found[0])


def test_plans_of_steps_that_never_come_again_are_let_go() -> None:
    from rankandfile.runtime.plan.steps import MOST_KINDS, Steps

    steps = Steps(learn=1)
    for n in range(MOST_KINDS + 50):
        for kind in ("often", n):
            steps.begin(f"step {n}", (kind,))
            steps.end()
    assert len(steps._kinds) == MOST_KINDS
    assert steps._kinds[("often",)].learned == 1


def test_sizes_that_vary_are_declared(ranks: Ranks) -> None:
    assert [rank.returned for rank in ranks.run(2, programs.sizes, True)] == [programs.STEPS] * 2
    assert {rank.raised for rank in ranks.run(2, programs.sizes, False)} == {"OutOfPlan"}


def test_a_wish_that_nobody_declared_is_refused() -> None:
    from rankandfile.control import Plan

    with pytest.raises(TypeError, match="decided are stop"), Plan(stop="any").step(0, halt=True):
        pass
    with pytest.raises(ValueError, match="one of any"):
        Plan(stop="some")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no decision can be called timeout"):
        Plan(timeout="min")  # type: ignore[arg-type]


class TestMessages:
    @pytest.mark.parametrize("how", ["right", "varies"])
    def test_the_same_in_each_step_or_declared_to_vary(self, ranks: Ranks, how: str) -> None:
        assert [rank.returned for rank in ranks.run(3, programs.messages, how)] == [[0]] * 3

    def test_one_more_is_out_of_plan_and_not_sent(self, ranks: Ranks) -> None:
        found = ranks.run(3, programs.messages, "sends more", limit=60)
        assert found[1].raised == "OutOfPlan" and found[1].odd == [1]
        assert "step 5: message 3 from rank 1 to rank 0 on world [0-2] is out of plan" in found[1].message


class TestWithoutDeclaredSteps:
    @pytest.mark.parametrize("program", ["pipeline", "from_anybody"])
    def test_messages_in_any_order_are_let_through(self, ranks: Ranks, program: str) -> None:
        found = ranks.run(3, programs.undeclared, program)
        assert found[0].returned and [rank.returned for rank in found] == [found[0].returned] * 3, found[
            0
        ].out

    @pytest.mark.parametrize("program", ["healthy", "empty_shares", "uneven"])
    def test_a_healthy_program_is_let_through(self, ranks: Ranks, program: str) -> None:
        found = ranks.run(3, programs.undeclared, program)
        assert [rank.returned for rank in found] == [programs.STEPS] * 3, found[0].out

    @pytest.mark.parametrize(
        ("program", "text"),
        [
            ("inverts", "wait for each other in different calls"),
            ("other_reduction", "not about to make the same call"),
            ("skips", "not about to make the same call"),
            ("sends_nothing", "wait for each other in different calls"),
            ("short_pipeline", "wait for each other in different calls"),
        ],
    )
    def test_who_goes_another_way_is_told(self, ranks: Ranks, program: str, text: str) -> None:
        begin = time.monotonic()
        all_end(ranks.run(2 if program == "inverts" else 3, programs.undeclared, program, limit=60), text)
        assert time.monotonic() - begin < 60

    def test_who_waits_for_messages_across_a_broadcast_is_told_and_nobody_innocent_blamed(
        self, ranks: Ranks
    ) -> None:
        found = ranks.run(3, programs.undeclared, "early_pipeline", limit=60)
        for rank in found:
            assert rank.raised == "OutOfPlan" or rank.exit == ENDED, rank.out
            assert "recv from plan_programs.py:" in told(rank) and "broadcast from" in told(rank)
            assert "ranks 0" not in told(rank) and "rank 2 left" not in told(rank)

    def test_what_is_longer_than_its_place_is_not_sent(self, ranks: Ranks) -> None:
        found = ranks.run(2, programs.undeclared, "sends_too_much", limit=60)
        assert {rank.raised for rank in found if rank.exit != ENDED} == {"OutOfPlan"}
        assert all("16 bytes are sent, and 8 taken" in told(rank) for rank in found)
