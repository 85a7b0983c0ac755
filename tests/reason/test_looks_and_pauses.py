"""That ranks stand where they stood shows a hang only where the looks are further apart than the job's own pauses."""

from __future__ import annotations

import polars as pl
import pytest
from msgspec.structs import replace
from support.reason.building import SECOND, START, WORLD, Call, Job, Step, Stop, case_of, loop
from support.reason.witnesses import Frame, Witnesses, best, blamed, suspected

from rankandfile.model.code_read import CodeRead
from rankandfile.model.diagnosis import Verdict
from rankandfile.reason import gather
from rankandfile.reason.conclusion import conclude

C10D = "/venv/torch/distributed/distributed_c10d.py"
SLEEPS, CARDS = "time.sleep(seconds)", ("/workspace/cards.py", 17)
MEETS: list[Frame] = [("all_reduce", C10D, 3252), ("main", "/workspace/recommend.py", 60)]
BODY: list[Step] = [Call(WORLD, "all_reduce", 4, "recommend.py:60")]


def looked_at(told: Witnesses, apart_s: float) -> Witnesses:
    """Twice, the same: rank 1 waits for rank 0, which is in a line of its own."""
    told.stack(0, [("make", *CARDS)], [("make", *CARDS)]).stack(1, MEETS, MEETS)
    last = START + 700 * SECOND
    files = told.case.stack_files
    times = [last - int(apart_s * SECOND) * (1 - n % 2) for n in range(files.height)]
    told.case = replace(
        told.case, stack_files=files.with_columns(written_ns=pl.Series(times, dtype=pl.Int64))
    )
    return told


def without_dumps(line: str, apart_s: float) -> Verdict:
    """The first look at both, then the other: of a job of which nothing is left but stacks."""
    told = Witnesses(case_of(Job({WORLD: [0, 1]}, {0: [], 1: []}), lost=[0, 1]))
    code = CodeRead(lines={CARDS: line})
    return conclude(gather(looked_at(told, apart_s).case, code=code)).verdicts[0]


@pytest.mark.parametrize(
    ("line", "apart_s", "named"),
    [
        ("with self.lock:", 7, True),
        # A call into C leaves no frame.
        ("card = draw(seconds)", 7, False),
        ("self.thread.join()", 7, False),
        # Who sleeps wakes up by itself: that takes more than a few seconds to be a hang.
        (SLEEPS, 7, False),
        (SLEEPS, 15, True),
    ],
)
def test_who_sleeps_is_given_more_time(line: str, apart_s: float, named: bool) -> None:
    verdict = without_dumps(line, apart_s)
    assert (blamed(verdict) == [0]) is named, verdict.sentence
    if not named:
        assert suspected(verdict) == [0]
        assert "They stood there for 7 s, which may be a pause" in verdict.sentence


@pytest.mark.parametrize(("pause_s", "hangs"), [(1, True), (5, False)])
def test_looks_are_held_against_the_pauses_that_the_job_made_before(pause_s: int, hangs: bool) -> None:
    """It made a call each `pause_s` seconds; for eight it stands where it stood."""
    programs = {0: [*loop(BODY, 6), Stop()], 1: loop(BODY, 7)}
    case = case_of(Job({WORLD: [0, 1]}, programs, backend="gloo"))
    slowly = case.calls.with_columns(
        created_ns=START + 690 * SECOND - (6 - pl.col("record")) * pause_s * SECOND
    )
    case = replace(
        case, calls=slowly, dumps=case.dumps.with_columns(written_ns=pl.lit(START + 700 * SECOND, pl.Int64))
    )
    verdict = best(looked_at(Witnesses(case), 8))
    assert bool(verdict.hang and blamed(verdict)) is hangs, verdict.sentence


GETS: list[Frame] = [
    ("wait", "/usr/lib/python3.11/threading.py", 327),
    ("get", "/usr/lib/python3.11/queue.py", 171),
    ("batches", "/workspace/shelf.py", 39),
]


@pytest.mark.parametrize(("made_at_s", "named"), [(3.0, False), (12.0, True)])
def test_who_made_a_call_between_two_looks_got_on(made_at_s: float, named: bool) -> None:
    """Rank 0 was seen waiting for its next data both times, twelve seconds apart; its last call, and the one in which
    rank 1 waits for it, were made so long before the second look."""
    case = case_of(Job({WORLD: [0, 1]}, {0: [*loop(BODY, 6), Stop()], 1: loop(BODY, 7)}, backend="gloo"))
    at = START + 700 * SECOND - int(made_at_s * SECOND)
    calls = case.calls.with_columns(created_ns=at - (6 - pl.col("record")) * SECOND // 10)
    dumps = case.dumps.with_columns(written_ns=pl.lit(START + 700 * SECOND, pl.Int64))
    told = looked_at(Witnesses(replace(case, calls=calls, dumps=dumps)), 11)
    stands = gather(told.case).hosts
    assert (stands[0].moving is False) is named


def test_whose_thread_is_at_work_is_given_more_time() -> None:
    """A queue that a thread of the rank fills: where that was seen asleep in its own code, it may be at work."""

    def told(*threads: list[Frame]) -> Verdict:
        case = case_of(Job({WORLD: [0, 1]}, {0: [], 1: []}), lost=[0, 1])
        seen = Witnesses(case).stack(0, GETS, GETS).stack(1, MEETS, MEETS)
        last = START + 700 * SECOND
        times = [last - 7 * SECOND * (1 - n % 2) for n in range(seen.case.stack_files.height)]
        files = seen.case.stack_files.with_columns(written_ns=pl.Series(times, dtype=pl.Int64))
        seen.case = replace(seen.case, stack_files=files)
        for frames in threads:
            seen.stack(0, frames, role="other")
        code = CodeRead(lines={("/workspace/shelf.py", 33): SLEEPS})
        return conclude(gather(seen.case, code=code)).verdicts[0]

    assert blamed(told()) == [0]
    fetches: list[Frame] = [("fetch", "/workspace/shelf.py", 33)]
    assert (blamed(told(fetches)), suspected(told(fetches))) == ([], [0])


CUTS: list[Frame] = [("merge", "/workspace/pairs.py", 8), ("encode", "/workspace/pairs.py", 28)]
COUNTS: list[Frame] = [("encode", "/workspace/pairs.py", 24)]
SLEEPS_ON: list[Frame] = [("beat", "/workspace/pulse.py", 24)]


@pytest.mark.parametrize(
    ("seen", "runs", "gets_on"),
    [
        ((CUTS, COUNTS), (True, True), True),
        # One that only watches sleeps between two rounds; one that turns on one line may turn there for ever.
        ((SLEEPS_ON, COUNTS), (False, True), False),
        ((COUNTS, COUNTS), (True, True), False),
    ],
)
def test_who_waits_for_a_queue_that_a_running_thread_fills_is_late(
    seen: tuple[list[Frame], list[Frame]], runs: tuple[bool, bool], gets_on: bool
) -> None:
    """Six calls; for eight seconds rank 0 gets no item, and rank 1 waits for it."""
    case = case_of(Job({WORLD: [0, 1]}, {0: [*loop(BODY, 6), Stop()], 1: loop(BODY, 7)}, backend="gloo"))
    made = START + 692 * SECOND - (6 - pl.col("record")) * SECOND // 10
    dumps = case.dumps.with_columns(written_ns=pl.lit(START + 700 * SECOND, pl.Int64))
    told = Witnesses(replace(case, calls=case.calls.with_columns(created_ns=made), dumps=dumps))
    told.stack(0, GETS, GETS).stack(0, *seen, role="other").stack(1, MEETS, MEETS)
    other = pl.col("role") == "other"
    looks = told.case.snapshots.with_columns(
        os_thread=pl.when(other).then(pl.lit(7)),
        active=pl.when(other).then(pl.col("ordinal").replace_strict({2: runs[0], 3: runs[1]}, default=None)),
    )
    files = told.case.stack_files.with_columns(written_ns=START + 699 * SECOND + pl.int_range(pl.len()))
    told.case = replace(told.case, snapshots=looks, stack_files=files)
    verdict = best(told)
    assert (gather(told.case).hosts[0].moving is True) is gets_on
    assert verdict.cause == ("host_slow" if gets_on else "host_blocked"), verdict.sentence
