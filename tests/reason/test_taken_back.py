"""What the evidence alone leads to say, and the source shows to be otherwise, is handed over as what it is."""

from __future__ import annotations

from support.reason.building import WORLD, Call, Job, Step, case_of, loop
from support.reason.loops import BACKWARD, BODY, LOSS, others

from rankandfile.model.case import Case
from rankandfile.model.sentence import Presumption, in_words, taken_back
from rankandfile.reason import concluded, gather
from rankandfile.reason.divergence.code_paths import DivergingLines
from rankandfile.reason.divergence.in_document import different_ways


def before_and_after(case: Case, what: Presumption) -> tuple[str, str]:
    (one,) = concluded(gather(case)).believed
    return in_words(one.words), in_words(taken_back(one.words, what))


def test_that_it_may_have_left_the_loop() -> None:
    """Rank 1 comes to the statistics after four of the eight calls that all made before them each time."""
    total = Call(WORLD, "all_reduce", 3, "stats.py:15")

    def row(calls: int) -> list[Step]:
        return [Call(WORLD, "all_reduce", 64 >> n % 2, "ppo.py:42") for n in range(calls)]

    programs = {rank: [*loop([*row(8), total], 3), *row(5)] for rank in range(3)}
    programs[1] = [*loop([*row(8), total], 3), *row(4), total]
    case = case_of(Job({WORLD: [0, 1, 2]}, programs, stalled=frozenset({(WORLD, 32)})))
    said, shown = before_and_after(case, "perhaps left the loop")
    assert "may have left the loop" in said
    assert "left the loop" not in shown and "do not tell" not in shown and shown.count(" wait in the ") == 1


def test_that_it_skipped_a_call() -> None:
    programs = {**others(4), 3: [*loop(BODY, 5), BACKWARD, LOSS, *loop(BODY, 2)]}
    said, shown = before_and_after(case_of(Job({WORLD: sorted(programs)}, programs)), "skipped a call")
    assert "Rank 3 skipped the " in said
    assert " skipped the " not in shown and "Rank 3 has not come to the all_reduce" in shown
    assert "it is in another round of the loop before it." in shown


def test_that_it_has_another_order() -> None:
    first, second = Call("0", "all_reduce", 64, "a.py:5"), Call("1", "all_reduce", 8, "a.py:9")
    programs: dict[int, list[Step]] = {rank: [*[first, second] * 6, first, second] for rank in range(4)}
    programs[3] = [*[first, second] * 6, second, first]
    every = list(range(4))
    case = case_of(Job({"0": every, "1": every}, programs, backend="gloo"))
    said, shown = before_and_after(case, "another order")
    assert "in another order than" in said and "in another order than" not in shown


def test_that_they_go_different_ways() -> None:
    presumed = different_ways(DivergingLines("train", "/workspace/train.py", (41, 49)))
    assert presumed is not None
    assert presumed.words == "They go different ways in train, train.py, at lines 41 and 49."
    said = ("Rank 1 made a call more.", presumed)
    assert in_words(taken_back(said, "different ways")) == "Rank 1 made a call more."
