"""`undetermined`: the evidence does not decide, and nobody is blamed."""

from __future__ import annotations

from support.reason import data_parallel, gloo_jobs, loops, lost_dumps, no_dumps
from support.reason.building import WORLD, Call, Job, Step, Stop, case_of, loop
from support.reason.witnesses import (
    IN_LOADER,
    Witnesses,
    at,
    best,
    blamed,
)

from rankandfile.model.case import Case
from rankandfile.reason import diagnose


def test_one_against_one_name_nobody() -> None:
    verdict = best(lost_dumps.lost(1, 2).gave_up(1, 9, "_ALLGATHER_BASE", 8))
    assert (verdict.cause, blamed(verdict)) == ("undetermined", [])
    assert "asked for different things" in verdict.sentence


def test_who_never_spoke_is_shown_and_not_blamed() -> None:
    verdict = best(no_dumps.all_gave_up(besides=(1,)).log(1, 1))
    assert (verdict.hang, verdict.cause, blamed(verdict)) == (True, "undetermined", [])
    assert "Rank 1 left no line about it" in verdict.sentence
    assert verdict.alternatives[0].culprits == "1"


def test_nothing_at_all() -> None:
    verdict = best(no_dumps.nothing().log(0, 0))
    assert (verdict.hang, verdict.cause, blamed(verdict)) == (None, "undetermined", [])


def gloo(names: tuple[str, ...] = (WORLD,)) -> Witnesses:
    """gloo: rank 2 never came to a call of the first group; the others wait."""
    body: list[Step] = [Call(name, "all_reduce", 64, f"{name}.py:3") for name in names]
    programs = {rank: loop(body, 6) for rank in range(4)}
    programs[2] = [*loop(body, 4), Stop()]
    return Witnesses(case_of(Job({name: [0, 1, 2, 3] for name in names}, programs, backend="gloo")))


def test_gloo_keeps_no_receives_so_a_line_named_after_one_blames_nobody() -> None:
    assert blamed(best(gloo().stack(2, at(10, "load"), running=False))) == [2]
    assert blamed(best(gloo().stack(2, at(10, "receive_gradient"), running=False))) == []


def test_gloo_and_a_group_on_which_nothing_is_recorded() -> None:
    """Groups 1 and 3 were used; number 2 was made as well, and may carry what gloo does not record."""
    names = ("1", "3")
    assert blamed(best(gloo(names).stack(2, at(10, "load"), running=False))) == []
    assert blamed(best(gloo(names).stack(2, IN_LOADER))) == [2]
    assert blamed(best(gloo(names).stack(2, at(10), at(10), running=True))) == [2]


def test_one_rank_outside_of_a_transfer_may_be_the_one_that_all_wait_for() -> None:
    witnesses = gloo_jobs.transfers(44, 44, 44)
    witnesses.stack(2, [("load", "/workspace/data.py", 12)])
    assert best(witnesses.case).cause == "undetermined"


def test_two_against_one_in_the_last_call_is_likely_and_no_proof() -> None:
    """What strikes one rank seldom strikes two alike; but both may be a call ahead by one like any other."""
    programs: dict[int, list[Step]] = {rank: loop([loops.BACKWARD], 5) for rank in range(3)}
    programs[1] = [*loop([loops.BACKWARD], 4), loops.BACKWARD._replace(size=1, site="inventory.py:12")]
    verdict = diagnose(case_of(Job({WORLD: [0, 1, 2]}, programs))).verdicts[0]
    assert verdict.hang
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("different_collective", "supported", [1])
    assert "extra_collective" in {a.cause for a in verdict.alternatives}


def test_one_that_does_what_all_did_before_most_likely_missed_what_is_done_for_the_first_time() -> None:
    """Both of the others may be wrong as well: that is said beside it."""
    programs: dict[int, list[Step]] = {rank: loop([loops.BACKWARD], 5) for rank in range(3)}
    for rank in (0, 2):
        programs[rank] = [*loop([loops.BACKWARD], 4), loops.BACKWARD._replace(size=1, site="inventory.py:12")]
    verdict = diagnose(case_of(Job({WORLD: [0, 1, 2]}, programs))).verdicts[0]
    assert (verdict.confidence, blamed(verdict)) == ("supported", [1])
    assert "0,2" in [other.culprits for other in verdict.alternatives]


def test_a_dump_is_lost_and_all_had_joined() -> None:
    job = data_parallel.world(4, {}, stalled=frozenset({(WORLD, 13)}))
    verdict = data_parallel.only(case_of(job, lost=[2]))
    assert verdict.cause == "undetermined"
    assert blamed(verdict) == []
    assert "dump of rank 2" in verdict.missing_evidence[0].what


def test_nothing_to_decide_on() -> None:
    verdict = data_parallel.only(Case())
    assert (verdict.hang, verdict.cause) == (None, "undetermined")
