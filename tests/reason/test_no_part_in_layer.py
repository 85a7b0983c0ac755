"""Who lacks in an exchange of a backward pass in which the others send it nothing, and left no dump."""

from __future__ import annotations

from support.reason.autograd import of_autograd
from support.reason.building import WORLD, Call, Job, Step, case_of
from support.reason.witnesses import C10D, Witnesses, blamed

from rankandfile.model.diagnosis import Verdict
from rankandfile.reason import diagnose

EXPERTS, BACKWARD = "1", "a.py:21"
#: Of the group of experts, ranks 1 to 3.
GIVEN = {1: [5, 3, 0], 2: [4, 4, 0]}


def circle(given: dict[int, list[int]], backward: str = BACKWARD, sums_before: int = 0) -> Verdict:
    """Ranks 1 and 2 wait in an exchange, and rank 3, whose dump is lost, with rank 0 in the sum of gradients.
    `given`: what they send there by their stacks. `backward`: where autograd calls from. `sums_before`: passes that
    ended, in which all came to the sum before that exchange."""
    programs: dict[int, list[Step]] = {}
    for rank in range(4):
        rows = given.get(rank, [3, 3, 3])
        sizes = ([[sum(rows), 8]], [[9, 8]])
        before = [Call(EXPERTS, "all_to_all", site="a.py:15", sizes=([[9, 8]], [[9, 8]]))] if rank else []
        exchange = [Call(EXPERTS, "all_to_all", site=BACKWARD, sizes=sizes)] if rank in (1, 2) else []
        step = Call(WORLD, "all_reduce", site="a.py:60")
        usual = Call(EXPERTS, "all_to_all", site=BACKWARD, sizes=([[9, 8]], [[9, 8]]))
        ended: list[Step] = [*before, step, *([usual] if rank else [])] * sums_before
        programs[rank] = [*(ended or [step]), *before, *exchange, step]
    groups = {WORLD: [0, 1, 2, 3], EXPERTS: [1, 2, 3]}
    case = of_autograd(case_of(Job(groups, programs, backend="gloo"), lost=[3]), backward)
    witnesses = Witnesses(case)
    for rank, rows in given.items():
        asked = (
            f"all_to_all_single: input_split_sizes={rows}\nall_to_all_single: output_split_sizes=[3, 3, 3]"
        )
        frames = [("all_to_all_single", C10D, 5140), ("backward", "/workspace/a.py", 21)]
        witnesses.stack(rank, frames, asked=asked.replace(", ", ","))
    for rank in (0, 3):
        witnesses.stack(rank, [("all_reduce", C10D, 3252), ("step", "/workspace/a.py", 60)])
    return diagnose(witnesses.case).verdicts[0]


def test_who_lacks_where_nothing_goes_to_it_alone() -> None:
    verdict = circle(GIVEN)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("skipped_collective", "supported", [3])
    assert "nothing goes to it there, and to it alone" in verdict.sentence


def test_where_something_goes_to_it_or_nothing_to_another_as_well_nobody_is_named() -> None:
    for given in (
        {**GIVEN, 2: [4, 3, 1]},
        {1: [8, 0, 0], 2: [8, 0, 0]},
        {1: [5, 3, 0]},
    ):
        assert blamed(circle(given)) == []


def test_in_a_forward_pass_nothing_to_send_is_no_reason_to_leave_it_out() -> None:
    assert blamed(circle(GIVEN, backward="a.py:15")) == []


def test_who_always_came_to_the_sum_first_has_left_that_out() -> None:
    assert blamed(circle(GIVEN, sums_before=3)) == []
