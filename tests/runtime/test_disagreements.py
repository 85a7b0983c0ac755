"""Real jobs of which one rank makes a call otherwise than the others: the ring keeps what torch's recorder does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.later import Later
from support.runtime.gloo_ranks import Ranks

import rankandfile

programs = Later("support.runtime.recorder_programs")

pytestmark = [pytest.mark.slow, pytest.mark.torch]


@pytest.mark.parametrize(
    ("in_what", "cause", "told"),
    [
        ("reduction", "different_collective", "ranks 0 and 2: SUM; rank 1: MAX"),
        ("dtype", "dtype_mismatch", "ranks 0 and 2: [4] Float; rank 1: [4] Int"),
        ("size", "size_mismatch", "ranks 0 and 2: [4] Float; rank 1: [8] Float"),
    ],
)
def test_of_a_job_that_went_on_it_is_told_that_its_numbers_are_wrong(
    ranks: Ranks, tmp_path: Path, in_what: str, cause: str, told: str
) -> None:
    ended = ranks.run(3, programs.disagrees, in_what, RAF_RING_DIR=str(tmp_path))
    assert [one.exit for one in ended] == [0, 0, 0]
    first, second = rankandfile.diagnose(tmp_path).verdicts
    assert (first.cause, first.hang) == ("no_hang", False)
    assert (second.cause, second.hang, second.culprits) == (cause, False, [])
    assert told in second.sentence


def test_whom_each_rank_took_for_the_root_the_ring_tells(ranks: Ranks, tmp_path: Path) -> None:
    ranks.run(3, programs.disagrees, "root", RAF_RING_DIR=str(tmp_path))
    (verdict,) = rankandfile.diagnose(tmp_path).verdicts
    assert (verdict.cause, [one.rank for one in verdict.culprits]) == ("root_mismatch", [1])
    assert "ranks 0 and 2 take 0 for the root; rank 1 takes 1 for the root" in verdict.sentence


def test_where_all_agree_nothing_more_is_told(ranks: Ranks, tmp_path: Path) -> None:
    ranks.run(3, programs.disagrees, "nothing", RAF_RING_DIR=str(tmp_path))
    calls = rankandfile.load(tmp_path).calls
    assert dict(calls.select("op", "root").iter_rows()) == {"broadcast": 2, "reduce": 2, "barrier": None}
    (verdict,) = rankandfile.diagnose(tmp_path).verdicts
    assert verdict.cause == "no_hang"
