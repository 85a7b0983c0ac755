"""An all_to_all of a backward pass in which a rank is at another layer than its peers."""

from __future__ import annotations

from support.reason.autograd import of_autograd
from support.reason.building import WORLD, Call, Job, Step, case_of
from support.reason.witnesses import C10D, Witnesses, blamed, suspected

from rankandfile.model.diagnosis import Verdict
from rankandfile.reason import diagnose

FORWARD, BACKWARD = "a.py:15", "a.py:21"
RANKS = [0, 1, 2]

Rows = list[list[int]]
"""What each rank sends to each other in a layer."""

USUAL: list[Rows] = [
    [[4, 4, 4], [4, 5, 3], [2, 5, 5]],
    [[6, 3, 3], [4, 4, 4], [1, 5, 6]],
]
#: In the second layer nothing comes to rank 1.
NOTHING_FOR_ONE: list[Rows] = [USUAL[0], [[7, 0, 5], [8, 0, 4], [3, 0, 9]]]
#: In the second layer all goes to rank 0.
ALL_FOR_ONE: list[Rows] = [USUAL[0], [[12, 0, 0], [12, 0, 0], [12, 0, 0]]]


def _there(rank: int, rows: Rows) -> tuple[list[list[int]], list[list[int]]]:
    return [[sum(rows[rank]), 8]], [[sum(row[rank] for row in rows), 8]]


def _forward(rank: int, layers: list[Rows]) -> list[Step]:
    steps: list[Step] = []
    for rows in layers:
        given, taken = _there(rank, rows)
        steps += [
            Call(WORLD, "all_to_all", site="a.py:8", dtype="Long", sizes=([[3]], [[3]])),
            Call(WORLD, "all_to_all", site=FORWARD, sizes=(given, taken)),
            Call(WORLD, "all_to_all", site=FORWARD, sizes=(taken, given)),
        ]
    return steps


def _backward(rank: int, layers: list[Rows]) -> list[Step]:
    steps: list[Step] = []
    for rows in reversed(layers):
        given, taken = _there(rank, rows)
        steps += [
            Call(WORLD, "all_to_all", site=BACKWARD, sizes=(given, taken)),
            Call(WORLD, "all_to_all", site=BACKWARD, sizes=(taken, given)),
        ]
    return steps


def passes(
    last: list[Rows],
    goes_on: dict[int, int],
    before: int = 2,
    stacks: bool = False,
    autograd: bool = True,
    ring: int | None = None,
) -> Verdict:
    """`before`: passes that ended. `goes_on`: rank -> the layer that its last backward pass begins with, counted from
    the end. `stacks`: they show what each sends and expects there. `autograd`: and that it is a backward pass."""
    programs: dict[int, list[Step]] = {}
    at: dict[int, Rows] = {}
    for rank in RANKS:
        usual = [*_forward(rank, USUAL), *_backward(rank, USUAL)] * before
        left = last[: len(last) - goes_on.get(rank, 0)]
        at[rank] = left[-1]
        programs[rank] = [*usual, *_forward(rank, last), *_backward(rank, left)]
    stalled = frozenset({(WORLD, before * 10 + 7)})
    case = case_of(Job({WORLD: RANKS}, programs, backend="gloo", stalled=stalled), ring=ring)
    witnesses = Witnesses(of_autograd(case, BACKWARD) if autograd else case)
    for rank in RANKS if stacks else []:
        gives, takes = at[rank][rank], [row[rank] for row in at[rank]]
        asked = f"all_to_all_single: input_split_sizes={gives}\nall_to_all_single: output_split_sizes={takes}"
        frames = [("all_to_all_single", C10D, 5140), ("backward", "/workspace/a.py", 21)]
        witnesses.stack(rank, frames, asked=asked.replace(", ", ","))
    return diagnose(witnesses.case).verdicts[0]


def test_who_undoes_an_earlier_exchange_than_the_others_left_calls_out() -> None:
    for stacks in (False, True):
        verdict = passes(NOTHING_FOR_ONE, {1: 1}, stacks=stacks)
        assert (verdict.cause, verdict.confidence, blamed(verdict)) == (
            "skipped_collective",
            "supported",
            [1],
        )
        assert "Rank 1 left out 2 calls of a backward pass" in verdict.sentence
        assert (
            "its call undoes exchange 23 of the group, where ranks 0 and 2 undo exchange 26"
            in verdict.sentence
        )


def test_of_a_pass_that_rings_have_lost_in_part_nothing_is_learned() -> None:
    for kept, named in ((7 + 8, []), (7 + 10 + 5, [1])):
        assert blamed(passes(NOTHING_FOR_ONE, {1: 1}, before=4, ring=kept)) == named


def test_several_may_have_left_them_out() -> None:
    assert blamed(passes(ALL_FOR_ONE, {1: 1, 2: 1})) == [1, 2]


def test_in_one_layer_nobody_is_further() -> None:
    for goes_on in ({}, dict.fromkeys(RANKS, 1)):
        verdict = passes(NOTHING_FOR_ONE, goes_on)
        assert (verdict.cause == "skipped_collective", blamed(verdict)) == (False, [])


def test_without_an_earlier_pass_amounts_of_a_backward_pass_prove_nothing() -> None:
    verdict = passes(NOTHING_FOR_ONE, {1: 1}, before=0, stacks=True)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("skipped_collective", "hypothesis", [])
    assert suspected(verdict) == [1]
    assert "some may be at another layer than the others" in verdict.sentence
    assert [other.cause for other in verdict.alternatives] == ["split_mismatch"]


def test_who_is_alone_in_a_layer_in_which_it_has_nothing_to_send_to_others_is_not_suspected() -> None:
    verdict = passes(ALL_FOR_ONE, {1: 1, 2: 1}, before=0, stacks=True)
    assert (verdict.confidence, blamed(verdict), suspected(verdict)) == ("hypothesis", [], [])


def test_amounts_that_disagree_in_a_forward_pass_do() -> None:
    verdict = passes(NOTHING_FOR_ONE, {1: 1}, before=0, stacks=True, autograd=False)
    assert (verdict.cause, verdict.confidence) == ("split_mismatch", "established")
