"""Ranks that part while they run: what is told of their rings, and what is not."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from support.capture.recorded import Recorded, job

from rankandfile.capture.response import Response
from rankandfile.capture.sentinel.digests import digest
from rankandfile.capture.sentinel.duty import Duty, DutyWishes
from rankandfile.capture.sentinel.sentinel import Sentinel
from rankandfile.capture.sentinel.telling import group_name
from rankandfile.capture.sentinel.tree import merged, row_divergences, rows_of
from rankandfile.capture.watch.rings import look
from rankandfile.capture.watch.stall import Stall
from rankandfile.model.digest import Finding, Group, Job, Report, as_json, packed, read
from rankandfile.model.ranks import format_ranks


def steps(ranks: list[Recorded], count: int, first: int = 0) -> None:
    """The same three lines, through one helper, on all ranks."""
    for _ in range(count):
        for rank in ranks:
            for line in (10, 11, 12)[first:]:
                rank.call(1, line)


def told(sentinel: Sentinel, folder: Path, seconds: float = 0.0) -> list[Finding]:
    return sentinel.look(look(folder), time.time() + seconds)


def watched(folder: Path) -> list[Finding]:
    """What is told while every rank has time to come."""
    sentinel = Sentinel()
    found = [one for seconds in (0.0, 2.0, 2.5) for one in told(sentinel, folder, seconds)]
    assert not told(sentinel, folder, 4.0)  # each incident once
    return found


@pytest.mark.parametrize(
    ("wrong", "call"),
    [
        ({"op": "barrier"}, "barrier"),
        ({"size": (5,)}, "all_reduce SUM Float [5]"),
        ({"reduction": "MAX"}, "all_reduce MAX Float [4]"),
        ({"op": "broadcast_", "root": 1}, "broadcast Float [4] (root: member 1)"),
    ],
)
def test_another_call_under_the_same_number(tmp_path: Path, wrong: dict[str, object], call: str) -> None:
    """By what it asks for; it is certain, whatever line it comes from, and though nothing hangs."""
    ranks = job(tmp_path, 3)
    steps(ranks, 5)
    for number, rank in enumerate(ranks):
        rank.call(1, 20, **(wrong if number == 1 else {}))  # type: ignore[arg-type]
    (found,) = watched(tmp_path)
    assert (found.kind, found.certainty, found.sequence, found.ranks) == ("desync", "certain", 16, "1")
    assert [(side.ranks, side.call) for side in found.sides] == [
        ("1", call),
        ("0,2", "all_reduce SUM Float [4]"),
    ]
    assert f"rank 1 calls {call} at train.py:1 in f1() < train.py:20 in f20()" in found.words


@pytest.mark.parametrize("other", [{"size": (9,)}, {"op": "barrier"}])
def test_a_call_too_many_is_told_where_it_was_made(tmp_path: Path, other: dict[str, object]) -> None:
    """And not where the calls stop fitting, some numbers later."""
    ranks = job(tmp_path, 2)
    for number, rank in enumerate(ranks):
        for step in range(5):
            for line in (10, 11, 12):
                if number == 1 and (step, line) == (4, 11):
                    rank.call(30)
                rank.call(1, line)
            rank.call(13, **other)  # type: ignore[arg-type]
    (found,) = watched(tmp_path)
    assert (found.sequence, found.certainty) == (18, "certain")
    assert [(side.ranks, side.path[0].line, side.path[-1].line) for side in found.sides] == [
        ("1", 30, 30),
        ("0", 1, 11),
    ]
    assert found.ranks == "1"


@pytest.mark.parametrize("ahead", [0, 2])
def test_wrong_numbers_though_every_call_fits(tmp_path: Path, ahead: int) -> None:
    """One rank is a call ahead: nothing hangs, and nothing adds up."""
    ranks = job(tmp_path, 3)
    steps(ranks, 5)
    ranks[ahead].call(30)
    steps(ranks, 2)
    (found,) = watched(tmp_path)
    assert (found.kind, found.certainty, found.sequence, found.ranks) == ("desync", "likely", 16, str(ahead))
    assert "what they compute is wrong" in found.words and "train.py:30" in found.words


def main_logs(ranks: list[Recorded]) -> None:
    """The main rank has a line of its own, in each step; the second call meets the helper of the others."""
    for _ in range(40):
        for number, rank in enumerate(ranks):
            rank.call(1, 10)
            rank.call(1, 50 if number == 0 else 60)
            rank.call(1, 11)


def in_turn(ranks: list[Recorded]) -> None:
    """Shifted by design: each rank has its turn on another line than those whose turn it is not."""
    for _ in range(20):
        for owner in range(len(ranks)):
            for number, rank in enumerate(ranks):
                rank.call(1, 70 if number == owner else 71)


def roots(ranks: list[Recorded]) -> None:
    for root in range(len(ranks)):
        for number, rank in enumerate(ranks):
            rank.call(80 if number == root else 81, op="broadcast_", root=root)


def one_is_late(ranks: list[Recorded]) -> None:
    steps(ranks, 5)
    for rank in ranks[1:]:
        rank.call(1, 90, op="barrier", done=False, ago=300.0)


def uneven_parts(ranks: list[Recorded]) -> None:
    for number, rank in enumerate(ranks):
        rank.call(95, op="alltoall_base_", size=(number + 1,))
        rank.call(96, op="gather_", root=0)


def subgroups(ranks: list[Recorded]) -> None:
    """Under one name, for different members: they have nothing to do with each other."""
    for number, rank in enumerate(ranks):
        rank.group(2, "7", "half", [one for one in range(len(ranks)) if one % 2 == number % 2])
        rank.call(40 + number % 2, size=(number % 2 + 1,), group=2)


def a_graph_is_captured(ranks: list[Recorded]) -> None:
    steps(ranks, 3)
    steps(ranks[:1], 1)


@pytest.mark.parametrize(
    "program", [main_logs, in_turn, roots, one_is_late, uneven_parts, subgroups, a_graph_is_captured]
)
@pytest.mark.parametrize("size", [2, 4])
def test_what_ranks_may_do_differently_is_not_told(
    tmp_path: Path, program: Callable[[list[Recorded]], None], size: int
) -> None:
    ranks = job(tmp_path, size)
    program(ranks)
    assert not watched(tmp_path)


def test_two_groups_in_another_order(tmp_path: Path) -> None:
    """Each waits in the one that the other comes to later."""
    ranks = job(tmp_path, 2)
    for number, rank in enumerate(ranks):
        rank.group(2, "1", "pairs", [0, 1])
        rank.call(10)
        rank.call(20, group=2)
        rank.call(30 + number, group=1 + number, done=False, ago=1.5)
    (found,) = watched(tmp_path)
    assert (found.kind, found.certainty, found.ranks) == ("order", "likely", "0,1")
    assert [(side.ranks, side.path[0].line) for side in found.sides] == [("0", 30), ("1", 31)]


def test_who_is_gone_will_not_come(tmp_path: Path) -> None:
    ranks = job(tmp_path, 3)
    steps(ranks, 2)
    for rank in ranks[:2]:
        rank.call(40, done=False, ago=2.0)
    sentinel = Sentinel()
    seen = [one._replace(lives=one.rank != 2) for one in look(tmp_path)]
    sentinel.look(seen)
    (found,) = sentinel.look(seen, time.time() + 2.0)
    assert (found.kind, found.certainty, found.ranks, found.sequence) == ("missing", "certain", "2", 7)
    assert found.words.startswith("rank 2 has ended and will never come to call 7 of group default_pg [0-2]")


def test_a_tree_of_digests_tells_who_is_apart(tmp_path: Path) -> None:
    """What has made the same calls is one row, though some are further than others."""
    ranks = job(tmp_path, 8)
    steps(ranks, 20)
    steps(ranks[:4], 3)
    sentinel = Sentinel()
    told(sentinel, tmp_path)
    (program,) = sentinel.ranks.programs().values()
    digests = {rank: digest(one, time.time()) for rank, one in program.items()}
    node = [merged(rows_of(digests[rank] for rank in half)) for half in (range(4), range(4, 8))]
    (row,) = merged(row for rows in node for row in rows)
    assert (row.count, row.low, row.last, row.ranks) == (8, 60, 69, tuple(range(8)))
    assert not row_divergences(row for rows in node for row in rows)
    ranks[5].call(40, size=(9,))
    for rank in (*ranks[4:5], *ranks[6:]):
        rank.call(1, 10)
    told(sentinel, tmp_path)
    all_of_them = rows_of(digest(one, time.time()) for one in program.values())
    (found,) = row_divergences(merged(all_of_them))
    assert found.rows[0].ranks == (5,) and found.after < 61 <= found.by


def test_reports_are_read_in_both_forms(tmp_path: Path) -> None:
    ranks = job(tmp_path, 2)
    steps(ranks, 2)
    sentinel = Sentinel()
    told(sentinel, tmp_path)
    (program,) = sentinel.ranks.programs().values()
    digests = tuple(digest(one, time.time()) for one in program.values())
    report = Report(job=Job(id="1"), node="here", time=time.time(), digests=digests)
    assert read(packed(report)) == report == read(as_json(report))
    assert digests[0].groups[0].last == 6 and digests[0].groups[0].op == "all_reduce SUM Float [4]"
    for bad in (
        b"",
        b"{}",
        b"\xff\xfe",
        packed(report)[:-2],
        b'{"schema":"other/1","job":{"id":"1"},"node":"","time":1}',
    ):
        with pytest.raises(ValueError, match=r"no report|a report of"):
            read(bad)


def test_a_verdict_after_which_nobody_looked_again_is_a_finding(tmp_path: Path) -> None:
    """`--on-hang dump-and-kill` ends the job at its verdict: the duty's next look would never come."""
    response = SimpleNamespace(
        verdict=("rank 2 left the loop", tmp_path), findings=[], nodes=None, cases=[], busy=False
    )
    duty = Duty(DutyWishes(), cast(Response, response), cast(Stall, SimpleNamespace()), lambda _: None)
    duty.end(1)
    assert ["rank 2 left the loop" in finding.words for finding in response.findings] == [True]
    assert "rank 2 left the loop" in (tmp_path / "watch.json").read_text()


@pytest.mark.parametrize("lives", [True, False])
def test_what_was_found_of_an_attempt_that_is_over_is_not_looked_into(tmp_path: Path, lives: bool) -> None:
    """All stand still when all are gone: the launcher starts them once more, or ends."""
    ranks, begun = job(tmp_path, 3), []
    steps(ranks, 5)
    for number, rank in enumerate(ranks):
        rank.call(1, 20, **({"op": "barrier"} if number == 1 else {}))
    response = SimpleNamespace(
        verdict=None, findings=[], nodes=None, cases=[], busy=True, ending=False, also=lambda _: None,
        ends=lambda _: None, begin=lambda noticed: begun.append(noticed),
    )  # fmt: skip
    stall = SimpleNamespace(told=False, still=lambda now: 9.0)
    duty = Duty(DutyWishes(), cast(Response, response), cast(Stall, stall), lambda _: None)
    duty.look(look(tmp_path))
    response.busy = False
    duty.look([one._replace(lives=lives) for one in look(tmp_path)])
    assert [one.kind for one in response.findings] == ["desync"]
    assert begun == [True] * lives


@pytest.mark.parametrize("ending", [True, False])
def test_ranks_that_go_because_the_job_is_being_ended_are_no_finding(tmp_path: Path, ending: bool) -> None:
    """Whom the end takes first would be the one that never comes, and the verdict would be no finding any more."""
    ranks = job(tmp_path, 3)
    steps(ranks, 2)
    for rank in ranks[:2]:
        rank.call(40, done=False, ago=2.0)
    response = SimpleNamespace(
        verdict=None, findings=[], nodes=None, cases=[], busy=True, ending=ending, also=lambda _: None
    )
    duty = Duty(DutyWishes(), cast(Response, response), cast(Stall, SimpleNamespace()), lambda _: None)
    seen = [one._replace(lives=one.rank != 2) for one in look(tmp_path)]
    until = time.monotonic() + 4
    while not response.findings and time.monotonic() < until:
        duty.look(seen)
        time.sleep(0.1)
    assert [one.kind for one in response.findings] == ["missing"] * (not ending)


def told_by_a_duty(
    folder: Path, *found: Finding, **wishes: bool
) -> tuple[Duty, SimpleNamespace, list[str], list[str]]:
    """A duty whose first look finds these, of a job that stands still; what it answers with, says, and ends it for."""
    said, ended_for = list[str](), list[str]()
    steps(job(folder, 3), 2)
    response = SimpleNamespace(
        verdict=None, findings=[], nodes=None, cases=[], busy=True, ending=False, ended=False, newest=folder,
        also=lambda _: None, ends=ended_for.append, begin=lambda noticed: None,
    )  # fmt: skip
    stall = SimpleNamespace(told=False, still=lambda now: 9.0)
    duty = Duty(DutyWishes(**wishes), cast(Response, response), cast(Stall, stall), said.append)
    looks = iter([found])
    duty.sentinel = cast(Sentinel, SimpleNamespace(look=lambda _: next(looks, ()), ranks=duty.sentinel.ranks))
    duty.look(look(folder))
    return duty, response, said, ended_for


WRONG = Finding(id="d", kind="desync", certainty="certain", words="ranks disagree", since=1.0, time=2.0)


def test_the_job_is_ended_also_where_nothing_more_is_told_and_that_is_recorded_once_it_was(
    tmp_path: Path,
) -> None:
    slow = [
        Finding(id=f"b{n}", kind="behind", certainty="likely", words=f"{n} is late", since=1.0, time=2.0)
        for n in range(5)
    ]
    duty, response, said, ended_for = told_by_a_duty(tmp_path, *slow, WRONG, enforce=True, abort=True)

    def action() -> str:
        return next(one.action for one in response.findings if one.id == "d")

    assert len(said) == 5 and action() == ""
    response.busy = False
    duty.look(look(tmp_path))
    assert ended_for == ["ranks disagree"] and action() == ""
    response.busy = response.ended = True
    duty.look(look(tmp_path))
    assert action() == "ended the job"
    assert "ended the job" in (tmp_path / "watch.json").read_text()


def test_what_this_node_and_all_nodes_together_find_is_told_once(tmp_path: Path) -> None:
    _, response, said, _ = told_by_a_duty(tmp_path, WRONG, WRONG)
    assert said == ["ranks disagree (certain)"] and len(response.findings) == 1


def test_a_group_of_a_fleet_is_told_in_a_few_words() -> None:
    members = format_ranks(range(0, 8192, 8))
    told = Group(id="g", name="7", description="data_parallel", size=1024, members=members)
    assert group_name(told) == "group data_parallel [0,8,...,8184]"
