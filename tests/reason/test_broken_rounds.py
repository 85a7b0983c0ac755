"""Who sends in each of its rounds but one owes that message, where the one that waits for it went round evenly."""

from __future__ import annotations

import pytest
from support.reason.building import WORLD, Job, Step, case_of, loop
from support.reason.transfers import SYNC, recv, send
from support.reason.witnesses import blamed

from rankandfile.model.causes import LEFT_MESSAGE_OUT
from rankandfile.reason import diagnose


def stages(middle: list[Step], rounds: int = 6, last: int | None = None) -> Job:
    """Three stages: the middle one takes from the first and sends on; then all meet."""
    programs: dict[int, list[Step]] = {
        0: [*loop([send(1)], rounds), SYNC],
        1: [*middle, SYNC],
        2: [*loop([recv(1)], rounds if last is None else last), SYNC],
    }
    return Job({WORLD: [0, 1, 2], "pp": [0, 1, 2]}, programs)


def middle(*rounds: bool) -> list[Step]:
    """In each round it takes one, and sends it on, or not."""
    return [step for sends in rounds for step in ((recv(0), send(2)) if sends else (recv(0),))]


@pytest.mark.parametrize("left_out", [2, 3, 5])
def test_the_message_of_one_round_is_left_out(left_out: int) -> None:
    """Also that of the last one, behind which it waits for all."""
    verdict = diagnose(case_of(stages(middle(*(n != left_out for n in range(6)))))).verdicts[0]
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("skipped_collective", "supported", [1])
    assert (verdict.culprits[0].doing or "").startswith(f"{LEFT_MESSAGE_OUT}: sent 5 in 6 rounds")
    assert "in 5 of its 6 rounds" in verdict.sentence


@pytest.mark.parametrize(
    "sends",
    [
        (True, False, True, False, True, True),  # two rounds without: perhaps as it is meant
        (True, True, False),  # no habit yet
    ],
)
def test_without_a_habit_nobody_is_named_by_it(sends: tuple[bool, ...]) -> None:
    verdict = diagnose(case_of(stages(middle(*sends), len(sends)))).verdicts[0]
    assert verdict.hang and not blamed(verdict)


def test_who_went_round_once_more_waits_for_nothing_that_was_left_out() -> None:
    """The sender's rounds are even, and the receiver takes one more than there were."""
    verdict = diagnose(case_of(stages(middle(*[True] * 6), last=7))).verdicts[0]
    assert 1 not in blamed(verdict)
