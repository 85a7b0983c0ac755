"""What the arguments in stacks tell: who waits for whose message, and who takes whom for the root."""

from __future__ import annotations

import pytest
from support.reason.building import Call, Job, Step, case_of, hidden, loop
from support.reason.witnesses import C10D, Witnesses, blamed

from rankandfile.model.diagnosis import Verdict
from rankandfile.reason import diagnose

WORLD = "0"


def receiving(*sources: int | None, lines: tuple[int, ...] = ()) -> Verdict:
    """Every rank sits in a receive of a message of the rank given; None: its stack has no arguments."""
    ranks = list(range(len(sources)))
    step: list[Step] = [Call(WORLD, "all_reduce", 64, "a.py:5")]
    witnesses = Witnesses(
        hidden(case_of(Job({WORLD: ranks}, {rank: loop(step, 2) for rank in ranks}, backend="gloo")))
    )
    for rank, source in enumerate(sources):
        line = lines[rank] if lines else 44
        asked = None if source is None else f"recv: src={source}\nrecv: tag=0"
        frames = [("recv", C10D, 2799), ("exchange", "/workspace/transfer.py", line)]
        witnesses.stack(rank, frames, asked=asked)
    return diagnose(witnesses.case).verdicts[0]


def test_pairs_that_receive_from_each_other_at_one_line_all_receive_first() -> None:
    verdict = receiving(1, 0, 3, 2)
    assert (verdict.cause, verdict.confidence) == ("order_inversion", "supported")
    assert blamed(verdict) == [0, 1, 2, 3]
    assert "rank 0 for one of rank 1 and rank 1 for one of rank 0" in verdict.sentence
    assert not verdict.missing_evidence


@pytest.mark.parametrize(
    "sources",
    [(1, 0), (3, 0, 1, 2), (1, 0, 3, None), (1, 0, 0, 2)],
    ids=["one pair", "one ring: somebody may have left out the first send", "not all shown", "a chain"],
)
def test_what_a_left_out_send_explains_as_well_blames_nobody(sources: tuple[int | None, ...]) -> None:
    assert blamed(receiving(*sources)) == []


def test_circles_at_several_lines_blame_nobody() -> None:
    assert blamed(receiving(1, 0, 3, 2, lines=(44, 20, 44, 20))) == []


def broadcasting(*roots: int | None, in_a_later_call: tuple[int, ...] = ()) -> Verdict:
    """All wait in one broadcast, and name these roots in their stacks."""
    ranks = list(range(len(roots)))
    call = Call(WORLD, "broadcast", 64, "a.py:7")
    job = Job(
        {WORLD: ranks},
        {rank: loop([call], 3) for rank in ranks},
        stalled=frozenset({(WORLD, 3)}),
        backend="gloo",
    )
    witnesses = Witnesses(case_of(job))
    for rank, root in enumerate(roots):
        op = "all_reduce" if rank in in_a_later_call else "broadcast"
        asked = None if root is None else f"{op}: src={root}\n{op}: group_src={root}"
        witnesses.stack(rank, [(op, C10D, 3151), ("adopt", "/workspace/a.py", 7)], asked=asked)
    return diagnose(witnesses.case).verdicts[0]


def test_the_one_that_names_another_root() -> None:
    verdict = broadcasting(0, 0, 2, 0)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("root_mismatch", "supported", [2])
    assert "rank 2 takes 2 for the root" in verdict.sentence
    assert verdict.divergence is not None
    assert [cohort.ranks for cohort in verdict.divergence.cohorts] == ["0,1,3", "2"]


def test_two_that_disagree_blame_nobody() -> None:
    verdict = broadcasting(0, None, 2, None)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("root_mismatch", "established", [])
    assert [other.culprits for other in verdict.alternatives][:2] == ["0", "2"]


def test_agreement_and_another_functions_arguments_prove_nothing() -> None:
    assert broadcasting(0, 0, 0, 0).cause != "root_mismatch"
    assert blamed(broadcasting(0, 0, 2, 0, in_a_later_call=(2,))) == []
