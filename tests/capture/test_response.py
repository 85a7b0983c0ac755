"""What `raf run` does about a stall, with ranks, a case and a job that are made up."""

from __future__ import annotations

import os
import tarfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from support.capture.waiting import until

from rankandfile.capture.diagnose import Answer, diagnose
from rankandfile.capture.meet.nodes import Nodes
from rankandfile.capture.meet.shared_folder import SharedFolder
from rankandfile.capture.response import Response
from rankandfile.capture.watch.rings import Seen
from rankandfile.capture.watch.stall import Stall
from rankandfile.wire import layout

pytestmark = pytest.mark.slow

VERDICT, HEALTHY, OPEN = Answer(1, "card\n", ""), Answer(0, "", ""), Answer(3, "", "")
NO_CAUSE = Answer(3, "", "", hang=True)


def waiting(calls: int, waits: bool = True) -> Seen:
    before = tuple((number, 1, 1) for number in range(1, calls))
    return Seen(
        Path("ring"), 0, 1, 1, 0, "", True, False, (*before, (calls, 0, 0)), calls, waits, calls * waits
    )


@dataclass
class Job:
    ended: bool = False
    endings: int = 0

    def end(self) -> None:
        self.ended = True


@dataclass
class Case:
    """While it collects, `meanwhile` happens."""

    folder: Path
    answer: Answer
    meanwhile: Callable[[], object] = lambda: None
    stacks: bool = False
    judged: int = 0
    taken_back: dict[int, float] = field(default_factory=dict)

    def knows(self, _: object) -> None:
        pass

    def of_stall(self, look: Callable[[], object], stacks: bool) -> Path:
        look()
        self.stacks = stacks
        self.meanwhile()
        self.folder.mkdir(exist_ok=True)
        return self.folder

    def judge(self, _: Path, holds: Callable[[], bool]) -> Answer:
        self.judged += 1
        return self.answer

    def moves(self, _: float) -> None:
        pass

    def take_back(self, _: Path, ranks: dict[int, float]) -> Answer:
        self.taken_back = ranks
        return HEALTHY


@dataclass
class Roster:
    seen: list[Seen]
    told: dict[str, str] = field(default_factory=dict)
    unreached: dict[int, str] = field(default_factory=dict)

    @property
    def calls(self) -> int:
        return sum(one.calls for one in self.seen)

    def now(self) -> tuple[list[Seen], dict[int, int]]:
        return self.seen, {}


class Watch:
    """A job that stands still, and what is done about it."""

    def __init__(self, folder: Path, on_hang: str, answer: Answer, waits: bool = True) -> None:
        self.said: list[str] = []
        self.job, self.case = Job(), Case(folder / "case", answer)
        self.roster = Roster([waiting(5, waits)])
        self.stall, self.on_hang = Stall(0.0, 1.0), on_hang
        self.response = self.respond()

    def respond(self, case: Case | None = None) -> Response:
        made: Any = Response(
            *cast(Any, (case or self.case, self.roster, self.stall, self.job)), self.on_hang, self.said.append
        )
        return cast(Response, made)

    def feed(self, at: float) -> bool:
        return self.stall.feed(at, self.roster.seen)

    def stands(self) -> None:
        self.feed(0.0)
        assert self.feed(9.0)
        self.response.begin(noticed=True)
        self.wait()

    def wait(self) -> None:
        while self.response.busy:
            time.sleep(0.01)

    def call(self) -> None:
        self.roster.seen = [waiting(self.roster.calls + 1)]
        self.feed(10.0)


@pytest.mark.parametrize(
    ("on_hang", "answer", "waits", "ends"),
    [
        ("report", VERDICT, True, False),
        ("dump-and-kill", VERDICT, True, True),
        ("kill", VERDICT, True, True),
        ("kill", VERDICT, False, True),
        ("kill", NO_CAUSE, True, True),
        ("kill", OPEN, True, False),  # nothing shows that it hangs
        ("kill", OPEN, False, False),
        ("kill", HEALTHY, True, False),
    ],
)
def test_whether_the_job_is_ended(
    tmp_path: Path, on_hang: str, answer: Answer, waits: bool, ends: bool
) -> None:
    watch = Watch(tmp_path, on_hang, answer, waits)
    watch.stands()
    assert watch.job.ended is ends, watch.said
    assert watch.case.stacks is (on_hang != "kill")
    # What did not tell why is looked at again, when it has lasted twice as long.
    assert watch.feed(17.0) is False
    assert watch.feed(18.5) is (not answer.is_hang)


def test_a_job_that_moves_while_it_is_looked_at_goes_on(tmp_path: Path) -> None:
    watch = Watch(tmp_path, "dump-and-kill", VERDICT)
    watch.case.meanwhile = watch.call
    watch.stands()
    assert (watch.job.ended, watch.case.judged) == (False, 0)
    assert not watch.case.folder.exists()
    assert watch.said[-1] == "the job moves again"


def test_an_attempt_that_is_over_is_no_hang_of_the_next_one(tmp_path: Path) -> None:
    """All of its ranks are gone, and the launcher is about to start others: nothing is said of it, nothing ended."""
    watch = Watch(tmp_path, "dump-and-kill", VERDICT)
    watch.case.meanwhile = lambda: watch.roster.seen.__setitem__(0, waiting(5)._replace(lives=False))
    watch.stands()
    assert (watch.job.ended, watch.case.judged) == (False, 0)
    assert not watch.case.folder.exists()


@pytest.mark.parametrize("by_hand", [None, 5.0])
def test_before_the_first_call_a_job_is_ended_only_where_somebody_said_how_long_is_too_long(
    tmp_path: Path, by_hand: float | None
) -> None:
    watch = Watch(tmp_path, "dump-and-kill", VERDICT)
    watch.roster.seen, watch.stall = [waiting(0, waits=False)], Stall(0.0, by_hand)
    watch.response = watch.respond()
    watch.feed(0.0)
    assert watch.feed(70.0)
    watch.response.begin(noticed=True)
    while watch.response.busy:
        time.sleep(0.01)
    assert (watch.case.judged, watch.job.ended) == (1, by_hand is not None)


def test_what_happens_meanwhile_without_a_move_saves_nobody(tmp_path: Path) -> None:
    """The looks of the main loop go on, and see what they saw."""
    watch = Watch(tmp_path, "dump-and-kill", VERDICT)
    watch.case.meanwhile = lambda: [watch.feed(at) for at in (10.0, 20.0, 30.0)]
    watch.stands()
    assert watch.job.ended


def test_a_verdict_holds_until_the_job_calls_again(tmp_path: Path) -> None:
    watch = Watch(tmp_path, "report", VERDICT)
    watch.stands()
    watch.response.go_on()
    before = len(watch.said)
    watch.call()
    watch.response.go_on()
    watch.wait()
    watch.response.go_on()
    assert watch.said[before:] == [
        f"the job moves again: the verdict above is taken back, it was no hang; case: {watch.case.folder}"
    ]
    assert list(watch.case.taken_back) == [0]
    watch.response.end(0)
    assert watch.said[before + 1 :] == []


def test_a_verdict_stands_where_the_call_has_failed(tmp_path: Path) -> None:
    """Whoever catches the error of its wait, and calls something else, has not been waited for in vain for nothing."""
    watch = Watch(tmp_path, "report", VERDICT)
    watch.stands()
    watch.roster.seen = [waiting(6)._replace(progress=((6, 0, 0), (5, layout.RAISED, 0)))]
    watch.feed(10.0)
    watch.response.go_on()
    assert "the verdict above stands" in watch.said[-1]
    assert not watch.case.taken_back


def test_what_ranks_call_once_a_signal_ends_the_job_takes_nothing_back(tmp_path: Path) -> None:
    watch = Watch(tmp_path, "report", VERDICT)
    watch.stands()
    watch.job.endings = 1
    watch.call()
    watch.response.go_on()
    watch.response.end(-15)
    assert not watch.case.taken_back and watch.said[-1] == f"case: {watch.case.folder}"
    assert watch.response.hang == watch.case.folder


SLOW = Answer(1, "card\n", "", True, "Rank 1 works.")


@pytest.mark.parametrize("on_hang", ["report", "dump-and-kill", "kill"])
def test_who_works_is_slow_so_far_whatever_is_done_about_hangs(tmp_path: Path, on_hang: str) -> None:
    watch = Watch(tmp_path, on_hang, SLOW)
    watch.stands()
    assert watch.said[-1] == f"slow so far, and no hang: Rank 1 works. Case: {watch.case.folder}"
    assert not watch.job.ended and watch.case.folder.is_dir()
    assert watch.feed(17.0) is False and watch.feed(18.5) is True  # it is looked at again
    watch.call()
    watch.response.go_on()
    assert watch.said[-1] == "the job moves again"
    assert not watch.case.folder.exists()


C10D = "torch/distributed/distributed_c10d.py"
WAITS = f"    barrier ({C10D}:4159)\n    main (train.py:13)\n    <module> (train.py:20)\n"
SCORES = "    score (busy.py:{line})\n    evaluate (busy.py:9)\n    main (train.py:12)\n    <module> (train.py:20)\n"


@dataclass
class Judged(Case):
    """What two looks at the stacks show is judged as `raf run` judges it."""

    def judge(self, folder: Path, holds: Callable[[], bool]) -> Answer:
        (folder / "evidence").mkdir()
        for look in range(2):
            for rank, stack in enumerate((SCORES.format(line=3 + look), WAITS, WAITS)):
                file = folder / "evidence" / f"spy_rank{rank}_{look}.txt"
                file.write_text(
                    f'Process {50 + rank}: python train.py\n\nThread {50 + rank} (active+gil): "MainThread"\n{stack}'
                )
                os.utime(file, (1_700_000_000 + 90 * look,) * 2)
        return diagnose(folder, None, True, 100)


def test_a_long_evaluation_is_slow_also_where_the_evidence_alone_would_not_call_it_a_hang(
    tmp_path: Path,
) -> None:
    watch = Watch(tmp_path, "kill", HEALTHY)
    watch.response = watch.respond(Judged(watch.case.folder, HEALTHY))
    watch.stands()
    assert watch.said[-1].startswith("slow so far, and no hang: Rank 0"), watch.said
    assert "moving" in watch.said[-1]
    assert not watch.job.ended and not watch.response.cases


def test_a_job_that_ends_after_its_verdict_is_not_judged_again(tmp_path: Path) -> None:
    watch = Watch(tmp_path, "kill", VERDICT)
    watch.stands()
    watch.response.end(-15)
    assert watch.said[-1] == "the job ended with -15; the verdict above stands"
    assert watch.case.judged == 1


def two_nodes(folder: Path) -> list[Watch]:
    """Of one job that goes on, and they know of each other."""
    watches = []
    for number in range(2):
        (folder / str(number)).mkdir()
        watch = Watch(folder / str(number), "report", HEALTHY)
        evidence = watch.case.folder / "evidence"
        watch.case.meanwhile = lambda at=evidence, n=number: [  # type: ignore[misc]
            at.mkdir(parents=True), (at / f"of-node-{n}").write_text("rings")
        ]  # fmt: skip
        watch.response.nodes = Nodes(
            lambda: SharedFolder(folder / "meet"), watch.said.append, (number,), time.time()
        )
        watches.append(watch)
    one, other = (cast(Nodes, watch.response.nodes) for watch in watches)
    until(lambda: one.own in other.others() and other.own in one.others())
    return watches


@pytest.mark.lab
def test_of_a_job_that_goes_on_the_evidence_of_all_nodes_comes_to_the_one_that_asks(tmp_path: Path) -> None:
    """Also where it is not the lowest one, which speaks about hangs."""
    first, second = two_nodes(tmp_path)
    try:
        told: list[Path] = []
        second.response.keep("ranks disagree: call 7", told.append)
        nodes = cast(Nodes, first.response.nodes)
        until(lambda: nodes.called)
        first.response.answer()
        first.wait()
        second.wait()
        assert told == second.response.cases == [second.case.folder]
        with tarfile.open(second.case.folder / "evidence" / "handed-in-0.tar.gz") as handed_in:
            assert handed_in.getnames() == ["of-node-0"]
        assert (first.case.judged, second.case.judged) == (0, 1)
        (line,) = first.said
        assert "ranks disagree: call 7; case there: " in line and str(second.case.folder) in line
        assert not nodes.called and not first.job.ended and not second.job.ended
        # A stall is another matter: the lowest node speaks again.
        nodes.raise_alarm()
        assert nodes.speaker() == nodes.own
    finally:
        for watch in (first, second):
            cast(Nodes, watch.response.nodes).leave(True)


def test_the_end_of_a_job_that_was_ended_says_why(tmp_path: Path) -> None:
    """A diagnosis of what its ranks left on their way out would say something else."""
    watch = Watch(tmp_path, "report", HEALTHY)
    watch.response.ends("ranks disagree: call 7")
    watch.response.keep("ranks disagree: call 7", lambda _: None)
    watch.wait()
    assert watch.job.ended and watch.response.ended
    watch.response.end(1)
    assert watch.said[-1] == (
        f"the job ended with 1; raf ended it, because ranks disagree: call 7; case: {watch.case.folder}"
    )
    assert watch.case.judged == 1
