"""Under torch's Join, who has no batch left answers the calls of the others: another path, and no divergence."""

from __future__ import annotations

import pytest
from support.reason.building import WORLD, Call, Job, Step, Stop, case_of
from support.reason.witnesses import blamed

from rankandfile.model.diagnosis import Verdict
from rankandfile.reason import diagnose

STEP = Call(WORLD, "all_reduce", 1, "loop.py:29")
JOIN = "/opt/venv/lib/python3.11/site-packages/torch/distributed/algorithms/join.py:286"


def verdict(answer: Call) -> Verdict:
    """Rank 0 has batches left, and is at work; the others have run out after so many, and answer its calls."""
    programs: dict[int, list[Step]] = {0: [*[STEP] * 9, Stop()]}
    programs |= {rank: [*[STEP] * had, *[answer] * (10 - had)] for rank, had in {1: 3, 2: 5, 3: 4}.items()}
    return diagnose(case_of(Job({WORLD: [0, 1, 2, 3]}, programs))).verdicts[0]


@pytest.mark.parametrize("site", [JOIN, "answers.py:286"])
def test_who_answers_by_another_way_with_the_same_call_has_not_parted_from_the_others(site: str) -> None:
    found = verdict(STEP._replace(site=site))
    assert found.divergence is None or found.divergence.kind == "absent", found.sentence
    assert blamed(found) == [0]


def unanswered(site: str) -> Verdict:
    """Ranks 0 and 1 sum up a metric of two elements each third step, rank 2 has run out before."""
    metric = Call(WORLD, "all_reduce", 2, "meters.py:21")
    programs: dict[int, list[Step]] = {rank: [*[STEP] * 6, metric, *[STEP] * 3] for rank in (0, 1)}
    programs[2] = [*[STEP] * 4, *[STEP._replace(site=site)] * 6]
    return diagnose(case_of(Job({WORLD: [0, 1, 2]}, programs, backend="gloo"))).verdicts[0]


def test_who_answers_from_a_join_a_call_that_it_does_not_know_ran_out_of_data() -> None:
    found = unanswered(JOIN)
    assert (found.cause, blamed(found)) == ("uneven_inputs", [2]), found.sentence
    assert "all_reduce at meters.py:21, which it does not answer" in found.sentence
    assert found.divergence is not None and found.divergence.seq == 7
    assert unanswered("answers.py:286").cause != "uneven_inputs"
