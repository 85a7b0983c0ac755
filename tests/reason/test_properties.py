"""What must not change a verdict: the numbering of ranks, the order of files, missing evidence, clocks that are off."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs
from support.examples import examples
from support.reason.building import Call, Job, Stop, case_of, loop, renumbered, run
from support.reason.faulty import FAULTS, faulty

from rankandfile.model.case import Case
from rankandfile.reason import diagnose

pytestmark = pytest.mark.slow

few = settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def answer(case: Case) -> tuple[set[int], list[tuple[str, str, bool]]]:
    """Who is blamed, and what is said."""
    verdicts = diagnose(case).verdicts
    blamed = {culprit.rank for verdict in verdicts for culprit in verdict.culprits}
    return blamed, sorted((v.cause, v.confidence, v.hang) for v in verdicts)


def blamed(case: Case) -> set[int]:
    return answer(case)[0]


faults = st.builds(
    faulty,
    st.integers(0, 5),
    st.sampled_from(FAULTS),
    st.integers(3, 6),
    backend=st.sampled_from(["gloo", "nccl"]),
)


@few
@given(st.integers(0, 5), st.sampled_from(FAULTS), st.integers(3, 6), st.sampled_from(["gloo", "nccl"]))
def test_the_culprit_is_found(culprit: int, fault: str, step: int, backend: str) -> None:
    assert blamed(case_of(faulty(culprit, fault, step, backend=backend))) == {culprit}


@few
@given(faults, st.permutations(range(6)))
def test_ranks_may_be_numbered_otherwise(job: Job, order: list[int]) -> None:
    to = dict(enumerate(order))
    (one, said), (other, said_then) = answer(case_of(job)), answer(case_of(renumbered(job, to)))
    assert {to[rank] for rank in one} == other
    assert said == said_then


@few
@given(faults, st.integers(0, 1000))
def test_files_may_come_in_any_order(job: Job, seed: int) -> None:
    assert answer(case_of(job)) == answer(case_of(job, shuffle=seed))


@few
@given(faults, st.dictionaries(st.integers(0, 5), st.integers(1, 3), min_size=1, max_size=5))
def test_ranks_may_have_made_other_calls_of_their_own(job: Job, chatty: dict[int, int]) -> None:
    """Calls on other groups shift all that is counted per process; calls belong together by group and number."""
    more = replace(
        job,
        groups={**job.groups, **{f"own{rank}": [rank] for rank in chatty}},
        programs={
            rank: [
                part
                for step in program
                for part in [*([Call(f"own{rank}", "all_reduce", 9, "own.py:3")] * chatty.get(rank, 0)), step]
            ]
            for rank, program in job.programs.items()
        },
    )
    one, other = (diagnose(case_of(j)).verdicts[0] for j in (job, more))
    assert [culprit.rank for culprit in one.culprits] == [culprit.rank for culprit in other.culprits]
    assert one.divergence is not None and other.divergence is not None
    assert (one.divergence.group, one.divergence.seq) == (other.divergence.group, other.divergence.seq)


@few
@given(faults, st.dictionaries(st.integers(0, 5), st.floats(-3000, 3000), max_size=6))
def test_clocks_may_be_off(job: Job, clocks: dict[int, float]) -> None:
    # The dumps bear the time of one machine, so that the wait stays long whatever the ranks' clocks say.
    assert blamed(case_of(job, waited_s=4000)) == blamed(case_of(job, waited_s=4000, clock_s=clocks))


@few
@given(faults, st.integers(16, 24))
def test_a_ring_that_reaches_back_beyond_the_departure_is_enough(job: Job, ring: int) -> None:
    assert blamed(case_of(job)) == blamed(case_of(job, ring=ring))


@few
@given(faults)
def test_healthy_groups_may_be_left_out(job: Job) -> None:
    more = Job(
        {**job.groups, "apart": [6, 7]},
        {**job.programs, **{r: loop([Call("apart", "all_reduce", 5, "apart.py:1")], 6) for r in (6, 7)}},
        backend=job.backend,
        descs=job.descs,
    )
    assert blamed(case_of(job)) == blamed(case_of(more))


@few
@given(faults)
def test_groups_in_which_all_is_well_may_be_dropped(job: Job) -> None:
    """Of the same ranks: what a group records in which every member made and ended the same calls decides nothing."""
    case = case_of(job)
    calls = case.calls.with_columns(pl.col("state").is_in(["issued", "started"]).alias("open"))
    made = calls.group_by("group").agg(
        pl.col("open").any(), pl.col("rank").value_counts().struct.field("count").n_unique().alias("counts")
    )
    well = made.filter(~pl.col("open") & (pl.col("counts") == 1))["group"]
    fewer = structs.replace(case, calls=case.calls.filter(~pl.col("group").is_in(well.implode())))
    (one, said), (other, said_then) = answer(case), answer(fewer)
    assert one == other
    assert {cause for cause, *_ in said} == {cause for cause, *_ in said_then}


@few
@given(faults, st.integers(0, 5), st.integers(0, 20))
def test_a_lost_or_late_innocent_adds_no_culprit(job: Job, lost: int, cut: int) -> None:
    """Whatever evidence is missing: the culprit or nobody, never another rank."""
    culprit = blamed(case_of(job))
    assert blamed(case_of(job, lost=[lost])) <= culprit
    assert blamed(case_of(job, truncated=[lost])) <= culprit


@few
@given(st.integers(0, 5), st.sampled_from(FAULTS), st.integers(3, 6), st.integers(1, 5), st.integers(1, 4))
def test_a_slow_innocent_is_not_blamed(culprit: int, fault: str, step: int, other: int, ahead: int) -> None:
    """A host that has not run ahead as far as the others', though it came to the call that all wait in."""
    job = faulty(culprit, fault, step)
    slow = (culprit + other) % 6
    stuck = next(i for i, call in enumerate(run(job)[slow]) if call.state == "issued")
    slowed = replace(job, programs={**job.programs, slow: [*job.programs[slow][: stuck + ahead], Stop()]})
    assert blamed(case_of(slowed)) == blamed(case_of(job)) == {culprit}
