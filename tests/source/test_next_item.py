"""A rank that waits for an item of a queue: where the thread of its own is that makes the next."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.source.written_evidence import stack

import rankandfile
from rankandfile.model.diagnosis import Verdict

ROLLOUT = """import queue
import threading


class Player(threading.Thread):
    def __init__(self, levels):
        super().__init__(daemon=True)
        self.levels, self.ready = levels, queue.Queue(2)

    def run(self):
        for level in self.levels:
            self.ready.put(self.episode(level))

    def episode(self, level):
        while not level.done:
            level.step()
        return level.score

    def next(self):
        return self.ready.get()
"""
TRAIN = """import torch.distributed as dist
from rollout import Player

def main(levels):
    player = Player(levels)
    player.start()
    while True:
        score = player.next()
        dist.all_reduce(score)

main([])
"""
WAITS = """Process {pid}: python train.py
Python v3.12.1 (/usr/bin/python3.12)

Thread {pid} (idle): "MainThread"
    wait (threading.py:355)
    get (queue.py:171)
    next (rollout.py:{get})
    main (train.py:8)
    <module> (train.py:11)
Thread 77 (active): "Thread-1"
{thread}
    run (rollout.py:{put})
    _bootstrap_inner (threading.py:1045)
"""


def told(folder: Path, thread: str, rollout: str = ROLLOUT, put: int = 12) -> Verdict:
    get = next(n for n, line in enumerate(rollout.splitlines(), 1) if "self.ready.get" in line)
    (folder / "src").mkdir()
    (folder / "src" / "rollout.py").write_text(rollout)
    (folder / "src" / "train.py").write_text(TRAIN)
    (folder / "evidence").mkdir()
    for look in (1, 2):
        for rank in range(3):
            text = stack(rank, "all_reduce", "main (train.py:9)", "<module> (train.py:11)")
            if rank == 2:
                text = WAITS.format(pid=40, thread=thread, put=put, get=get)
            (folder / "evidence" / f"stack_rank_{rank}_{look}.txt").write_text(text)
    found = rankandfile.diagnose([folder / "evidence"], src=[folder / "src"], hung=True).verdicts[0]
    assert [culprit.rank for culprit in found.culprits] == [2], found.sentence
    return found


TWO_LINES = ROLLOUT.replace(
    "            self.ready.put(self.episode(level))",
    "            score = self.episode(level)\n            self.ready.put(score)",
)


@pytest.mark.parametrize(
    ("rollout", "further"), [(ROLLOUT, 0), (TWO_LINES, 1)], ids=["one line", "two lines"]
)
def test_the_loop_that_does_not_end_is_named(tmp_path: Path, rollout: str, further: int) -> None:
    thread = f"    step (level.py:9)\n    episode (rollout.py:{16 + further})"
    found = told(tmp_path, thread, rollout=rollout)
    assert found.location is not None
    assert (found.location.file, found.location.line) == ("rollout.py", 15 + further)
    assert f"a thread of its own puts into `self.ready` (rollout.py:{12 + further})" in found.sentence


@pytest.mark.parametrize("thread", ["    put (queue.py:140)", "    sleep (level.py:5)"])
def test_who_hands_an_item_over_makes_none(tmp_path: Path, thread: str) -> None:
    found = told(tmp_path, thread)
    assert found.location is not None
    assert (found.location.file, found.location.line) == ("rollout.py", 20)


def test_a_thread_that_fills_nothing_is_left_alone(tmp_path: Path) -> None:
    found = told(
        tmp_path, "    step (level.py:9)", rollout=ROLLOUT.replace("self.ready.put", "self.others.put")
    )
    assert found.location is not None
    assert (found.location.file, found.location.line) == ("rollout.py", 20)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("score = self.episode(level)", "score = self.tasks.get()"),  # nobody gave it anything to do
        ("score = self.episode(level)", "score = self.slots.acquire()"),
    ],
)
def test_a_thread_that_waits_itself_is_at_work_on_nothing(tmp_path: Path, old: str, new: str) -> None:
    found = told(tmp_path, "    get (queue.py:171)", rollout=TWO_LINES.replace(old, new))
    assert found.location is not None
    assert (found.location.file, found.location.line) == ("rollout.py", 21)
    assert "at work on the next" not in found.sentence


def test_a_queue_of_another_object_by_the_same_name_is_another_queue(tmp_path: Path) -> None:
    monitor = """

class Monitor(threading.Thread):
    def run(self):
        while not self.stopped:
            self.ready.put(self.look())

    def look(self):
        return read_all()
"""
    thread = "    read_all (probe.py:4)\n    look (rollout.py:29)"
    found = told(tmp_path, thread, rollout=ROLLOUT + monitor, put=26)
    assert found.location is not None
    assert (found.location.file, found.location.line) == ("rollout.py", 20)
