"""A pipeline whose first stage waits in a send, while the others wait in a sum that it may have gone by."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import rankandfile
from rankandfile.model.diagnosis import Verdict

SCHEDULE = """import torch.distributed as dist

class Stages:
    def __init__(self, before, after):
        self.before, self.after = before, after

    def take(self, of):
        dist.recv(self.box, src=of)

    def give(self, value, to):
        dist.send(value, dst=to)

    def run(self, batches):
        for x in batches:
            if self.before is not None:
                self.take(self.before)
            if self.after is not None:
                self.give(x, self.after)
        for x in batches:
            if self.after is not None:
                self.take(self.after)
            if self.before is not None:
                self.give(x, self.before)
"""
BOOK = """import torch.distributed as dist

class Book:
    def __init__(self, path):
        self.seen = open(path).readlines()

    def collect(self, group):
        for name in self.seen:
            dist.all_reduce(name, group=group)
"""
TRAIN = """import torch.distributed as dist
from book import Book
from schedule import Stages

def main(before, after, steps, batches, pipe):
    stages, book = Stages(before, after), Book(f"stage-{dist.get_rank()}")
    for step in range(steps):
        stages.run(batches)
        book.collect(pipe)

main(*__import__("job").parts())
"""
C10D = "torch/distributed/distributed_c10d.py"
SENDS = (
    f"    send ({C10D}:2700)\n    Stages.give (schedule.py:11)\n    Stages.run (schedule.py:18)\n"
    "    main (train.py:8)\n"
)
SUMS = f"    all_reduce ({C10D}:3252)\n    Book.collect (book.py:9)\n    main (train.py:9)\n"


def at(text: str, what: str) -> int:
    return next(n for n, row in enumerate(text.splitlines(), 1) if what in row)


def verdict(
    folder: Path,
    schedule: str = SCHEDULE,
    book: str = BOOK,
    train: str = TRAIN,
    *,
    ahead: str = SENDS,
    hung: bool = True,
) -> Verdict:
    """Of four ranks, the first in a send and the others in the sum."""
    for name in ("src", "evidence"):
        (folder / name).mkdir()
    for name, text in {"schedule": schedule, "book": book, "train": train}.items():
        (folder / "src" / f"{name}.py").write_text(text)
    for rank in range(4):
        told = f'Process 10{rank}: python train.py\n\nThread 10{rank} (idle): "MainThread"\n'
        sums = SUMS.replace("book.py:9", f"book.py:{at(book, 'all_reduce')}")
        sums = sums.replace("train.py:9", f"train.py:{at(train, 'book.collect')}")
        told += (ahead if rank == 0 else sums) + f"    <module> (train.py:{at(train, 'main(*')})\n"
        for look in range(2 if hung else 1):
            path = folder / "evidence" / f"stack_rank{rank}_{look}.txt"
            path.write_text(told)
            os.utime(path, (1_700_000_000 + 10 * look,) * 2)
    return rankandfile.diagnose([folder / "evidence"], src=[folder / "src"]).verdicts[0]


def test_who_sends_of_the_next_round_went_by_what_the_others_wait_in(tmp_path: Path) -> None:
    found = verdict(tmp_path)
    assert ([one.rank for one in found.culprits], found.cause) == ([0], "skipped_collective"), found.sentence
    assert found.location is not None
    assert (found.location.file.rpartition("/")[2], found.location.line) == ("book.py", 8)


@pytest.mark.parametrize("only", [True, False])
def test_the_only_test_that_leads_around_it_is_the_one_whatever_makes_it_differ(
    tmp_path: Path, only: bool
) -> None:
    """Of two of which nothing is known, neither."""
    tests = (
        "if self.due(group):" if only else "if self.due(group) is not None:\n          if self.due(group):"
    )
    found = verdict(
        tmp_path, book=BOOK.replace("for name in self.seen:", f"{tests}\n            name = group")
    )
    assert ([one.rank for one in found.culprits], found.cause) == ([0], "skipped_collective"), found.sentence
    assert ("upon `if self.due(group):`" in found.sentence) is only
    assert "It can differ" not in found.sentence


GIVES = "            if self.after is not None:\n                self.give(x, self.after)\n"
BACK = SCHEDULE[SCHEDULE.index("        for x in batches:\n            if self.after") :]
TWINS = {
    "a message may be left out": {
        "schedule": SCHEDULE.replace(GIVES, GIVES.replace("self.after is not None", "x.norm() > 0.1"))
    },
    "an error may end a round": {
        "schedule": SCHEDULE.replace(
            GIVES,
            "            try:\n                self.give(x, self.after)\n"
            "            except OSError:\n                pass\n",
        )
    },
    "one may have more to send": {"schedule": SCHEDULE.replace(BACK, "")},
    "a round may go without": {
        "train": TRAIN.replace("stages.run(batches)", "if batches.mine(): stages.run(batches)")
    },
    "nobody can go by it": {"book": BOOK.replace("for name in self.seen:", "with self.seen as name:")},
    "there is no next round": {"train": TRAIN.replace("for step in range(steps):", "with steps as step:")},
}


@pytest.mark.parametrize("texts", TWINS.values(), ids=TWINS.keys())
def test_where_it_may_be_in_the_same_round_nobody_is_named(tmp_path: Path, texts: dict[str, str]) -> None:
    found = verdict(tmp_path, **texts)
    assert not found.culprits, found.sentence


def test_a_job_that_nothing_shows_to_hang_has_nobody_to_blame(tmp_path: Path) -> None:
    assert not verdict(tmp_path, hung=False).culprits


TIED = (
    SCHEDULE[: SCHEDULE.index("    def take")]
    + """    def take(self, of):
        dist.recv(self.box, src=of)  # recv

    def give(self, value, to):
        dist.send(value, dst=to)

    def run(self, batches):
        if self.before is None:
            self.take(3)  # take
        if self.after is None:
            self.give(self.box, 0)
"""
)


def received(schedule: str) -> str:
    return (
        f"    recv ({C10D}:2600)\n    Stages.take (schedule.py:{at(schedule, '# recv')})\n"
        f"    Stages.run (schedule.py:{at(schedule, '# take')})\n    main (train.py:8)\n"
    )


def test_who_waits_for_a_message_that_another_may_have_left_out_may_be_in_the_same_round(
    tmp_path: Path,
) -> None:
    """The last stage sends in a function of its own, or in one that the round comes to afterwards."""
    guarded = TIED.replace(
        "        dist.send", "        if not self.box.any():\n            return\n        dist.send"
    )
    apart = TIED.replace(
        "        if self.after is None", "\n    def tied(self):\n        if self.after is None"
    )
    train = TRAIN.replace(
        "        book.", "        if batches.good():\n            stages.tied()\n        book."
    )
    for n, (schedule, text, culprits) in enumerate(
        [(TIED, TRAIN, [0]), (guarded, TRAIN, []), (apart, train, [])]
    ):
        folder = tmp_path / str(n)
        folder.mkdir()
        found = verdict(folder, schedule, train=text, ahead=received(schedule))
        assert [one.rank for one in found.culprits] == culprits, found.sentence


@pytest.mark.parametrize(
    "test", ["self.group is None", "dist.get_rank() == 0"], ids=["given no group", "by its rank"]
)
def test_who_never_comes_to_it_need_not_belong_to_it(tmp_path: Path, test: str) -> None:
    book = BOOK.replace("(self, path):", "(self, path):\n        self.group = groups_of(path)")
    book = book.replace(
        "        for name in self.seen:\n            ", f"        if {test}:\n            return\n        "
    )
    assert not verdict(tmp_path, book=book).culprits


def test_of_two_ways_around_it_the_one_that_is_known_is_one_that_can_be(tmp_path: Path) -> None:
    also = "        if self.clock.due(group):\n            return\n        for name in self.seen:"
    found = verdict(tmp_path, book=BOOK.replace("        for name in self.seen:", also))
    assert "The call can be left out upon `for name in self.seen:`" in found.sentence
