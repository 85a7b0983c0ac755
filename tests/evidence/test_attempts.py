"""Which files speak of one hang: stale files, restarts, clocks that differ, a rank with two files."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rankandfile.evidence.owners.attempts import Sorted, attempts
from rankandfile.evidence.owners.dump_facts import Facts, duration

pytestmark = pytest.mark.slow

SECOND = 10**9
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
NOON = 1_795_176_000 * SECOND


def dump(
    rank: int | None, first: int, last: int, records: tuple[int, int] = (500, 2499), **more: Any
) -> Facts:
    """Times count from noon; the ring has wrapped unless `records` begins at 0."""
    fields: dict[str, Any] = {
        "source": f"nccl_trace_rank_{rank}",
        "rank": rank,
        "calls": records[1] - records[0] + 1,
        "first_record": records[0],
        "last_record": records[1],
        "first_ns": NOON + first,
        "last_ns": NOON + last,
    }
    return Facts(**(fields | more))


def whole_job(
    first: int, last: int, ranks: range = range(8), records: tuple[int, int] = (500, 2499)
) -> list[Facts]:
    return [dump(rank, first + rank * SECOND, last + rank * SECOND, records) for rank in ranks]


def aside(found: Sorted) -> dict[int, str]:
    return {index: reason for index, reason in enumerate(found.set_aside) if reason}


def test_one_attempt_is_left_alone() -> None:
    found = attempts(whole_job(-HOUR, 0))
    assert aside(found) == {}
    assert [(a.number, len(a.dumps)) for a in found.attempts] == [(1, 8)]
    assert found.chosen == 1


def test_nothing_is_nothing() -> None:
    assert attempts([]) == Sorted((), None, ())


def test_a_file_of_yesterday_is_set_aside() -> None:
    facts = whole_job(-2 * MINUTE, 0, range(7))
    facts.append(dump(7, -22 * HOUR, -21 * HOUR - 6 * MINUTE))
    assert aside(attempts(facts)) == {
        7: "its last call is 21 h 4 min before the first call (at 2026-11-20 11:58:00 UTC) of the 7 files diagnosed: "
        "an earlier run (attempt 1)"
    }


def test_a_rank_that_crashed_an_hour_before_the_watchdog_fired_is_kept() -> None:
    facts = whole_job(-2 * HOUR, 0, range(7), (0, 1999))
    facts.append(dump(7, -2 * HOUR, -HOUR, (0, 900)))
    assert aside(attempts(facts)) == {}


def test_a_rank_that_hung_while_others_went_on_until_their_rings_wrapped_is_kept() -> None:
    facts = whole_job(-2 * MINUTE, 0, range(7))
    facts.append(dump(7, -33 * MINUTE, -31 * MINUTE))
    assert aside(attempts(facts)) == {}
    # With a timeout of three hours it may even be two hours.
    long = [dump(rank, -2 * MINUTE, 0, timeout_ms=3 * 3_600_000) for rank in range(7)]
    long.append(dump(7, -125 * MINUTE, -123 * MINUTE, timeout_ms=3 * 3_600_000))
    assert aside(attempts(long)) == {}


def test_a_dead_rank_whose_old_file_the_restart_did_not_overwrite_is_set_aside() -> None:
    """The trap: same folder, same names; attempt 2 wrote all files but the one of the rank that died."""
    facts = whole_job(5 * MINUTE, 15 * MINUTE, range(7), (0, 300))
    facts.append(dump(7, -HOUR, 0, (0, 1800)))
    assert "5 min before the first call" in aside(attempts(facts))[7]
    facts[7] = dump(7, -10 * MINUTE, 0, (7000, 8999))
    assert list(aside(attempts(facts))) == [7]


def test_clocks_that_differ_by_minutes_make_no_file_stale() -> None:
    for skew in (-8 * MINUTE, 8 * MINUTE):
        for records in ((0, 300), (500, 2499)):
            facts = whole_job(0, MINUTE, range(4), records)
            facts += whole_job(skew, skew + MINUTE, range(4, 8), records)
            assert aside(attempts(facts)) == {}, (skew, records)


def test_a_clock_that_is_off_by_hours_does() -> None:
    facts = whole_job(0, 20 * MINUTE, range(6)) + whole_job(-5 * HOUR, -5 * HOUR + 20 * MINUTE, range(6, 8))
    assert list(aside(attempts(facts))) == [6, 7]


def test_ranks_that_wait_for_a_late_one_are_no_earlier_run() -> None:
    facts = whole_job(0, 20 * SECOND, range(7), (0, 12))
    facts.append(dump(7, 40 * MINUTE, 41 * MINUTE, (0, 5)))
    assert aside(attempts(facts)) == {}


def test_a_restart_within_minutes_is_told_by_the_numbers_that_start_over() -> None:
    first = [dump(r, 0, 10 * MINUTE, (3000, 4999), source=f"a/{r}") for r in range(8)]
    second = [dump(r, 12 * MINUTE, 20 * MINUTE, (0, 700), source=f"b/{r}") for r in range(8)]
    found = attempts(first + second)
    assert [sorted(a.dumps) for a in found.attempts] == [list(range(8)), list(range(8, 16))]
    assert found.chosen == 2
    assert list(aside(found)) == list(range(8))
    # The earlier one on request.
    found = attempts(second + first, chosen=1)
    assert list(aside(found)) == list(range(8))
    assert "12 min" not in (found.set_aside[0] or "")
    assert (
        found.set_aside[0]
        == "its first call is 2 min after the last call of the attempt diagnosed: a later run, "
        "which left 8 files (attempt 2)"
    )


def test_a_restart_where_clocks_make_the_attempts_overlap() -> None:
    """Host b's clock is three minutes behind; the restart took two."""
    first = [dump(r, 0, 10 * MINUTE, (3000, 4999)) for r in range(8)]
    second = [dump(r, 12 * MINUTE - 3 * MINUTE * (r // 4), 20 * MINUTE, (0, 700)) for r in range(8)]
    second[7] = dump(7, 9 * MINUTE, 20 * MINUTE, (0, 700))
    found = attempts(first + second)
    # Ranks 0 to 3 prove that it is another attempt; 4 to 7 go with them.
    assert list(aside(found)) == list(range(8))
    assert "started over in between" in (found.set_aside[0] or "")


def test_three_attempts() -> None:
    facts = [
        f for n in range(3) for f in whole_job(n * 30 * MINUTE, (n * 30 + 20) * MINUTE, range(8), (0, 900))
    ]
    found = attempts(facts)
    assert [len(a.dumps) for a in found.attempts] == [8, 8, 8]
    assert list(aside(found)) == list(range(16))


def test_the_latest_attempt_that_is_nearly_complete_is_chosen() -> None:
    facts = [*whole_job(0, 20 * MINUTE), dump(3, 2 * HOUR, 2 * HOUR + MINUTE, (0, 40))]
    found = attempts(facts)
    assert found.chosen == 1
    assert aside(found) == {
        8: "its first call is 1 h 39 min after the last call of the attempt diagnosed: a later run, which left "
        "1 file (attempt 2)"
    }
    half = whole_job(0, 20 * MINUTE) + whole_job(3 * HOUR, 4 * HOUR, range(4))
    assert attempts(half).chosen == 2


def test_an_attempt_of_a_smaller_world_is_complete_with_fewer_files() -> None:
    small = [dump(r, 3 * HOUR, 4 * HOUR, world=2) for r in range(2)]
    assert attempts(whole_job(0, 20 * MINUTE) + small).chosen == 2


def test_two_dump_times_of_one_process() -> None:
    facts = whole_job(0, 20 * MINUTE)
    later = dump(3, 2 * MINUTE, 24 * MINUTE, (600, 2599), source="second/3")
    found = attempts([*facts, later])
    assert aside(found) == {
        3: "an earlier dump of rank 3: second/3 goes on from record 2499 to 2599, 3 min 57 s later"
    }


def test_the_same_calls_twice() -> None:
    facts = whole_job(0, 20 * MINUTE)
    found = attempts([*facts, dump(3, 3 * SECOND, 20 * MINUTE + 3 * SECOND, source="copy", has_frames=True)])
    assert aside(found) == {3: "the same calls of rank 3 as copy, which is kept"}
    part = dump(3, 19 * MINUTE, 20 * MINUTE + 3 * SECOND, (2400, 2499), source="onlyactive")
    assert aside(attempts([*facts, part])) == {
        8: "fewer calls of rank 3 than nccl_trace_rank_3: 100 of 2,000"
    }


def test_two_processes_that_claim_one_rank_are_both_set_aside() -> None:
    facts = [
        dump(r % 4, r, 20 * MINUTE + r, host=f"node{r // 4}", source=f"node{r // 4}/{r % 4}")
        for r in range(8)
    ]
    found = attempts(facts)
    assert sorted(aside(found)) == list(range(8))
    assert aside(found)[0] == (
        "rank 0 has two files that cannot be of one process, this and node1/0: their record numbers and times "
        "disagree (from hosts node0 and node1: the number may count ranks within a host); neither is used"
    )


def test_two_backends_of_one_rank_are_two_parts_of_its_story() -> None:
    facts = [dump(r, 0, MINUTE, backend=backend) for r in range(4) for backend in ("nccl", "gloo")]
    facts = [f if f.backend == "nccl" else dump(f.rank, 0, 0, (0, 3), backend="gloo") for f in facts]
    assert aside(attempts(facts)) == {}


def empty(rank: int, written: int, **more: Any) -> Facts:
    return Facts(source=f"empty_{rank}", rank=rank, written_ns=written, **more)


def test_a_file_without_calls_has_only_the_time_it_was_written() -> None:
    facts = whole_job(0, 20 * MINUTE, range(7))
    for written in (0, NOON, NOON + 30 * MINUTE, NOON + 100 * HOUR):
        assert aside(attempts([*facts, empty(7, written)])) == {}, written
    assert aside(attempts([*facts, empty(7, NOON - 26 * HOUR)])) == {
        7: "it has no call with a time, and was written 26 h before the first call of the attempt diagnosed"
    }
    found = attempts([*facts, empty(7, NOON + 5 * HOUR), dump(2, 4 * HOUR, 4 * HOUR + 1)], chosen=1)
    assert "5 h after" not in aside(found)[7]
    assert "4 h 39 min after the last call" in aside(found)[7]
    # Without any call at all, there is nothing to compare it with.
    assert aside(attempts([empty(0, 5), empty(1, NOON)])) == {}


def test_a_file_without_calls_does_not_stand_beside_a_full_one() -> None:
    facts = [*whole_job(0, 20 * MINUTE), empty(3, NOON)]
    assert aside(attempts(facts)) == {8: "it has no calls; nccl_trace_rank_3, of the same rank 3, has 2,000"}
    facts = [*(dump(r, 0, MINUTE, backend="nccl") for r in range(4)), empty(3, NOON)]
    assert aside(attempts(facts)) == {4: "it has no calls; nccl_trace_rank_3, of the same rank 3, has 2,000"}
    found = attempts([empty(3, NOON), empty(3, NOON + 1)])
    assert aside(found) == {0: "it has no calls; empty_3, of the same rank 3, was written later"}


def test_times_that_cannot_be_are_no_times() -> None:
    facts = whole_job(0, 20 * MINUTE, range(7))
    for first, last in ((0, 5), (NOON + 5, NOON), (1 << 62, 1 << 62)):
        odd = Facts(
            source="odd", rank=7, calls=3, first_record=0, last_record=2, first_ns=first, last_ns=last
        )
        assert aside(attempts([*facts, odd])) == {}


def test_files_without_a_rank_go_with_their_time() -> None:
    facts = [dump(None, 0, 20 * MINUTE, source=f"x{n}") for n in range(4)] + [
        dump(None, -9 * HOUR, -8 * HOUR)
    ]
    assert list(aside(attempts(facts))) == [4]


def test_sixteen_thousand_ranks_in_three_attempts_take_a_moment() -> None:
    facts = [
        dump(rank, n * HOUR + rank, n * HOUR + 20 * MINUTE + rank, (0, 900))
        for n in range(3)
        for rank in range(16384)
    ]
    began = time.process_time()
    found = attempts(facts)
    took = time.process_time() - began
    assert [len(a.dumps) for a in found.attempts] == [16384] * 3
    assert took < 5


@pytest.mark.parametrize(
    ("time_ns", "words"),
    [
        (21 * HOUR + 4 * MINUTE + 3 * SECOND, "21 h 4 min"),
        (3 * 24 * HOUR + 2 * HOUR, "3 days 2 h"),
        (25 * HOUR, "25 h"),
        (-90 * SECOND, "1 min 30 s"),
        (2 * SECOND, "2 s"),
        (5_400_000, "5 ms"),
    ],
)
def test_durations_in_words(time_ns: int, words: str) -> None:
    assert duration(time_ns) == words


_FACTS = st.builds(
    dump,
    st.one_of(st.none(), st.integers(0, 3)),
    st.integers(-5, 5).map(lambda n: n * 20 * MINUTE),
    st.integers(-5, 5).map(lambda n: n * 20 * MINUTE),
    st.tuples(st.integers(0, 3), st.integers(0, 9)),
    source=st.text(max_size=3),
    written_ns=st.sampled_from([0, NOON, NOON - 30 * HOUR]),
    backend=st.sampled_from(["", "nccl"]),
    timeout_ms=st.one_of(st.none(), st.integers(0, 1 << 40)),
    world=st.one_of(st.none(), st.integers(0, 8)),
)


@given(st.lists(_FACTS, max_size=12), st.one_of(st.none(), st.integers(0, 4)))
def test_any_facts_are_sorted(facts: list[Facts], chosen: int | None) -> None:
    found = attempts(facts, chosen)
    assert len(found.set_aside) == len(facts)
    # Every timed file is in exactly one attempt, and of a rank and backend at most one file with calls is left.
    assert sorted(i for a in found.attempts for i in a.dumps) == [i for i, f in enumerate(facts) if f.timed]
    left = [
        (f.rank, f.backend)
        for f, why in zip(facts, found.set_aside, strict=True)
        if f.rank is not None and not why
    ]
    with_calls = [
        (f.rank, f.backend)
        for f, why in zip(facts, found.set_aside, strict=True)
        if f.rank is not None and not why and f.calls > 0
    ]
    assert len(set(with_calls)) == len(with_calls) <= len(left)


@given(st.lists(_FACTS, max_size=12), st.integers(0, 1 << 40))
def test_a_shift_of_all_clocks_changes_nothing(facts: list[Facts], shift: int) -> None:
    shifted = [
        replace(f, first_ns=(f.first_ns or 0) + shift, last_ns=(f.last_ns or 0) + shift, written_ns=0)
        for f in facts
    ]
    plain = [replace(f, written_ns=0) for f in facts]
    assert [a.dumps for a in attempts(plain).attempts] == [a.dumps for a in attempts(shifted).attempts]
    assert [why is None for why in attempts(plain).set_aside] == [
        why is None for why in attempts(shifted).set_aside
    ]
