"""What the source corrects is cut out of sentences that the evidence alone has made: each of them is made here, so that
a change of its words is noticed."""

from __future__ import annotations

from support.reason.building import WORLD, Call, Job, Step, case_of, loop
from support.reason.loops import BACKWARD, BODY, LOSS, others, verdict_of
from support.reason.witnesses import best

from rankandfile.reason.divergence.code_paths import DivergingLines
from rankandfile.reason.divergence.in_document import (
    ways_words,
    without_order,
    without_perhaps_left,
    without_skipping,
    without_ways,
)


def test_that_it_may_have_left_the_loop() -> None:
    """Rank 1 comes to the statistics after four of the eight calls that all made before them each time."""
    total = Call(WORLD, "all_reduce", 3, "stats.py:15")

    def row(calls: int) -> list[Step]:
        return [Call(WORLD, "all_reduce", 64 >> n % 2, "ppo.py:42") for n in range(calls)]

    programs = {rank: [*loop([*row(8), total], 3), *row(5)] for rank in range(3)}
    programs[1] = [*loop([*row(8), total], 3), *row(4), total]
    verdict = best(case_of(Job({WORLD: [0, 1, 2]}, programs, stalled=frozenset({(WORLD, 32)}))))
    assert verdict.cause == "early_exit" and "may have left the loop" in verdict.sentence
    shown = without_perhaps_left(verdict.sentence)
    assert "left the loop" not in shown and "do not tell" not in shown and shown.count(" wait in the ") == 1


def test_that_it_skipped_a_call() -> None:
    verdict = verdict_of({**others(4), 3: [*loop(BODY, 5), BACKWARD, LOSS, *loop(BODY, 2)]})
    assert " skipped the " in verdict.sentence
    corrected = without_skipping(verdict.sentence)
    assert " skipped the " not in corrected and "in another round of the loop before it." in corrected


def test_that_it_has_another_order() -> None:
    first, second = Call("0", "all_reduce", 64, "a.py:5"), Call("1", "all_reduce", 8, "a.py:9")
    programs: dict[int, list[Step]] = {rank: [*[first, second] * 6, first, second] for rank in range(4)}
    programs[3] = [*[first, second] * 6, second, first]
    every = list(range(4))
    verdict = best(case_of(Job({"0": every, "1": every}, programs, backend="gloo")))
    assert verdict.cause == "order_inversion" and "in another order than" in verdict.sentence
    assert "in another order than" not in without_order(verdict.sentence)


def test_that_they_go_different_ways() -> None:
    told = ways_words(DivergingLines("train", "/workspace/train.py", (41, 49)))
    assert without_ways(f"Rank 1 made a call more. {told}") == "Rank 1 made a call more."
