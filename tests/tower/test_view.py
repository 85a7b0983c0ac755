"""What reports come to: who is behind, who is late, and who is only told of later than others."""

from __future__ import annotations

import pytest
from support.tower.fleet import Ranks

from rankandfile.model.digest import Digest, Job, Report, Standing
from rankandfile.tower.view import kept
from rankandfile.tower.view.arrivals import arrivals, late_at
from rankandfile.tower.view.lag import places

NOW = 1_700_000_000.0


def digest(rank: int, last: int, done: int, open_s: float | None = None, time: float = NOW) -> Digest:
    return Digest(rank=rank, time=time, groups=(Standing("g", last, done, 0, open_s=open_s),))


def told(*digests: Digest) -> dict[int, tuple[int, float]]:
    return {place.digest.rank: (place.behind, round(place.late_s, 3)) for place in places(digests)["g"]}


def test_who_has_not_come_to_a_call_that_others_wait_in_is_late_for_as_long() -> None:
    assert told(digest(0, 8, 7, 4.0), digest(1, 8, 7, 3.0), digest(2, 7, 7)) == {
        0: (0, 0),
        1: (0, 0),
        2: (1, 4.0),
    }


def test_who_was_looked_at_earlier_is_not_behind() -> None:
    """A second apart, a job makes a hundred calls: the node that is read later is further, and nobody is at fault."""
    assert told(digest(0, 100, 100, time=NOW), digest(1, 200, 200, time=NOW + 1)) == {0: (0, 0), 1: (0, 0)}
    assert told(digest(0, 100, 100, time=NOW), digest(1, 101, 100, 0.2, time=NOW + 1)) == {
        0: (0, 0),
        1: (0, 0),
    }


def test_who_was_looked_at_later_and_is_behind_all_the_same_is_late() -> None:
    assert told(digest(0, 101, 100, 0.5, time=NOW), digest(1, 100, 100, time=NOW + 1))[1] == (1, 1.5)


def test_a_clock_that_is_wrong_makes_nobody_late() -> None:
    ahead = Report(job=Job(id="j"), node="n", time=NOW + 600, digests=(digest(0, 5, 5, time=NOW + 600),))
    fine = Report(job=Job(id="j"), node="m", time=NOW, digests=(digest(1, 6, 5, 0.0, time=NOW),))
    said = [kept.said(one.node, NOW, kept.kept(one)) for one in (ahead, fine)]
    assert [one.skew for one in said] == [600, 0]
    assert told(*(one for node in said for one in node.digests))[0] == (1, 0.0)


@pytest.mark.parametrize("late", [{5: 0.2}, {}])
def test_who_always_comes_last_is_told_and_of_a_healthy_job_nobody(late: dict[int, float]) -> None:
    job = Ranks("j", began=NOW, pace=2.0, late=late)
    looks = [
        late_at(at, places(job.report(0, at).digests)) for at in (NOW + 10.08 + 0.7 * n for n in range(40))
    ]
    found = arrivals(looks)
    assert {one.rank for one in found} == set(late)
    assert all(one.share > 0.9 and 0.02 <= one.late_s <= 0.2 and one.looks >= 5 for one in found)


def test_who_never_comes_is_late_for_one_collective_and_not_always_last() -> None:
    job = Ranks("j", began=NOW, pace=2.0, stops={3: 5.0})
    looks = [late_at(at, places(job.report(0, at).digests)) for at in (NOW + 10.0 + n for n in range(40))]
    assert all(look[0].by.keys() == {3} for look in looks)
    assert arrivals(looks) == []


def test_the_history_keeps_what_a_report_says_but_the_sums() -> None:
    report = Ranks("j", began=NOW).report(0, NOW + 5)
    body = kept.kept(report)
    said = kept.said("n", NOW + 5, body)
    assert [(one.rank, one.step, one.groups[0].last) for one in said.digests] == [
        (one.rank, one.step, one.groups[0].last) for one in report.digests
    ]
    assert {one.hash for digest in said.digests for one in digest.groups} == {0}


@pytest.mark.parametrize(
    ("job", "key"),
    [("train-12.a_b", "train-12.a_b"), ("", "job-"), ("../../etc", "etc-"), ("a b\n<c>" * 50, "a-b-c-a-b")],
)
def test_any_id_of_a_job_has_a_name_that_can_stand_in_an_address(job: str, key: str) -> None:
    from rankandfile.tower.web.route import well_named

    found = kept.key_of(job)
    assert found.startswith(key) and well_named({"job": found})
    assert kept.key_of(job + "2") != found
