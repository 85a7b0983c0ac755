"""Batches of collectives by both generations of the recorder, and batches of transfers among collectives."""

from __future__ import annotations

import polars as pl
import pytest
from msgspec.structs import replace
from support.reason.batches import Writer, case_of

from rankandfile.model.diagnosis import Verdict
from rankandfile.reason import diagnose


def only(*arguments: object, **more: object) -> Verdict:
    (verdict,) = diagnose(case_of(*arguments, **more)).verdicts  # type: ignore[arg-type]
    return verdict


def culprits(verdict: Verdict) -> list[int]:
    return [culprit.rank for culprit in verdict.culprits]


def steps(job: Writer) -> None:
    for _ in range(4):
        job.gathers()
        job.reduce()


def leaves_out_a_batch(job: Writer) -> None:
    steps(job)
    if job.rank != 2:
        job.gathers(False)
    job.reduce(False)
    job.reduce(False, line=25)


def gathers_more(job: Writer) -> None:
    steps(job)
    job.gathers(False, sizes=(8, 17) if job.rank == 2 else (8, 16))


RINGS = [None, 5, 6, 7, 8, 9]
"""Cut before, within and behind a batch."""


@pytest.mark.parametrize("parts", [True, False])
@pytest.mark.parametrize("ring", RINGS)
def test_a_batch_that_was_left_out(parts: bool, ring: int | None) -> None:
    verdict = only(leaves_out_a_batch, ring=ring, parts=parts)
    assert (verdict.cause, culprits(verdict)) == ("skipped_collective", [2])
    assert verdict.divergence is not None and verdict.divergence.seq == 9
    assert only(steps, ring=ring, parts=parts).cause == "no_hang"


@pytest.mark.parametrize("ring", RINGS)
def test_one_call_of_a_batch_has_another_size(ring: int | None) -> None:
    verdict = only(gathers_more, ring=ring)
    assert (verdict.cause, culprits(verdict)) == ("size_mismatch", [2])
    assert "8 + 17 elements of Float where ranks 0, 1 and 3 called it with 8 + 16" in verdict.sentence


def exchanges(job: Writer) -> None:
    for _ in range(4):
        job.exchange()
        job.reduce()
    job.exchange()


def never_comes(job: Writer) -> None:
    exchanges(job)
    if job.rank != 2:
        job.reduce(False)


def another_call(job: Writer) -> None:
    exchanges(job)
    job.reduce(False, op="reduce_scatter" if job.rank == 2 else "all_reduce")


@pytest.mark.parametrize("ring", [None, 3, 4, 7, 8])
def test_rings_that_lost_how_many_numbers_transfers_took(ring: int | None) -> None:
    """Who has an unfinished call is in it; who has none, and an earlier one in its ring, has not come."""
    verdict = only(never_comes, ring=ring)
    assert verdict.hang
    assert culprits(verdict) == ([2] if ring != 3 else [])
    assert only(exchanges, ring=ring).cause == "no_hang"


def test_calls_that_cannot_be_numbered_and_differ_are_no_quiet_job() -> None:
    assert culprits(only(another_call)) == [2]
    verdict = only(another_call, ring=7)
    assert (verdict.hang, verdict.cause, culprits(verdict)) == (True, "undetermined", [])
    assert "cannot be told" in verdict.sentence


def comes_late(job: Writer) -> None:
    """When rank 2's dump was written, it had come to the call, and the call had ended for it."""
    exchanges(job)
    if job.rank == 2:
        for _ in range(8):
            job.exchange()
    job.reduce(job.rank == 2)


def test_who_may_have_come_after_the_others_dumps_is_not_blamed() -> None:
    for verdict in diagnose(case_of(comes_late, ring=7)).verdicts:
        assert culprits(verdict) == []


def test_a_dump_cut_short_within_a_batch_asks_for_nothing_else() -> None:
    """The closing record of rank 0's last batch is lost: one of its gathers is left, which is no call of its own."""

    def healthy(job: Writer) -> None:
        steps(job)
        job.gathers()

    case = case_of(healthy)
    last = case.calls.filter(pl.col("dump") == 0)["record"].max()
    cut_short = replace(
        case,
        calls=case.calls.filter((pl.col("dump") > 0) | (pl.col("record") < last)),
        dumps=case.dumps.with_columns(pl.col("truncated") | (pl.col("dump") == 0)),
    )
    assert not diagnose(case).verdicts[0].hang
    for verdict in diagnose(cut_short).verdicts:
        # Whether it made another call, and waits in it, is lost: that is no all-clear.
        assert (verdict.hang, culprits(verdict), verdict.suspects) == (None, [], [])
