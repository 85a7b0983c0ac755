"""A job that somebody looked at while it ran: its waits are no longer than those before, and no hang is proved."""

from __future__ import annotations

import polars as pl
from msgspec.structs import replace
from support.reason import no_dumps
from support.reason.absent_rank import BODY, absent
from support.reason.building import SECOND, WORLD, Job, Stop, case_of, loop
from support.reason.witnesses import LEAVING, Witnesses, at, best, blamed

from rankandfile.model.case import Case
from rankandfile.reason import gather
from rankandfile.reason.ranks.looked import looked_ns

NO_FRAMES = at(19, "send", "/workspace/uploads.py")
IN_QUEUE = [
    ("wait", "/usr/lib/python3.11/threading.py", 327),
    ("get", "/usr/lib/python3.11/queue.py", 171),
    *NO_FRAMES,
]


def looked_at(witnesses: Witnesses, after_s: float) -> Case:
    """The stacks were taken so long after the last call, whatever the files of the dumps say."""
    case = witnesses.case
    last = case.dumps["last_ns"].max()
    assert isinstance(last, int)
    files = case.stack_files.with_columns(written_ns=pl.lit(last + int(after_s * SECOND), pl.Int64))
    return replace(case, stack_files=files)


def copied_late() -> Witnesses:
    return absent(waited_s=30).stack(2, at(17))


def test_the_files_of_dumps_that_are_later_than_the_stacks_are_no_proof_of_a_long_wait() -> None:
    verdict = best(looked_at(copied_late(), 0.8))
    assert (verdict.hang, verdict.ordinary, blamed(verdict), verdict.suspects) == (None, True, [], [])
    assert "rank 2 had not come to the" in verdict.sentence
    assert "had waited 0.8 s" in verdict.sentence
    assert "data.py:17" in verdict.sentence


def test_its_hanging_twin_waits_far_longer_than_ever_before() -> None:
    verdict = best(looked_at(copied_late(), 29))
    assert (verdict.hang, blamed(verdict)) == (True, [2])


def test_stacks_from_just_before_the_last_call_are_of_the_same_look() -> None:
    case = looked_at(copied_late(), -1)
    assert looked_ns(gather(case)) == case.dumps["last_ns"].max()
    assert best(case).hang is None


def test_stacks_from_long_before_tell_nothing_of_the_dumps() -> None:
    assert blamed(best(looked_at(copied_late(), -60))) == [2]


def ended_but_one() -> Witnesses:
    return no_dumps.nothing(3).exit(0, "running").stack(0, LEAVING).exit(1, 0).exit(2, 0)


def test_a_thread_that_sends_what_is_left_may_end_by_itself() -> None:
    verdict = best(ended_but_one().stack(0, NO_FRAMES, role="other"))
    assert (verdict.hang, verdict.cause, blamed(verdict)) == (None, "teardown_only", [])
    assert "another thread of it was in send, uploads.py:19, which may end by itself" in verdict.sentence


def test_a_thread_that_waits_for_an_item_that_nobody_brings_does_not() -> None:
    assert blamed(best(ended_but_one().stack(0, IN_QUEUE, role="other"))) == [0]


def seldom(waited_s: float, rounds: int = 3) -> Case:
    """Rank 2 lacks the call after so many rounds."""
    programs = {rank: loop(BODY[:1], rounds + 1) for rank in range(4)}
    programs[2] = [*loop(BODY[:1], rounds), Stop()]
    return case_of(Job({WORLD: [0, 1, 2, 3]}, programs), waited_s=waited_s)


def test_of_a_job_that_has_hardly_begun_a_few_seconds_are_no_long_wait() -> None:
    assert (best(seldom(4)).hang, blamed(best(seldom(4)))) == (None, [])
    assert blamed(best(seldom(15))) == [2]
    # One that did the same many times in less takes such a wait for what it is.
    assert blamed(best(seldom(4, rounds=9))) == [2]
