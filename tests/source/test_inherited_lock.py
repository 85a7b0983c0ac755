"""A rank waits for a data worker of which nobody took a stack: a lock that the worker may have inherited, held."""

from __future__ import annotations

import pytest
from support.source.toy_runs import MARK, case_of, diagnosis_of, locate, place, play, tree, verdict_of

from rankandfile.model.diagnosis import Verdict

PROGRAM = """
import threading

from torch.utils.data import DataLoader, Dataset
import torch.distributed as dist


class Scratch:
    def __init__(self):
        self.lock = threading.Lock()

    def start(self, names):
        threading.Thread(target=self.fetch_all, args=(names,)).start()

    def fetch_all(self, names):
        with self.lock:
            for name in names:
                self.fetch(name)

    def fetch(self, name):
        pass

    def path(self, name):
        with self.lock:  # <-
            self.fetch(name)
        return name


class Tiles(Dataset):
    def __init__(self, scratch):
        self.scratch = scratch

    def __getitem__(self, index):
        return self.scratch.path(index)


def main():
    scratch = Scratch()
    scratch.start([])
    for tile in DataLoader(Tiles(scratch)):
        dist.all_reduce(tile)
"""
LOADER = (
    ("_try_get_data", "/usr/lib/python3/site-packages/torch/utils/data/dataloader.py", 1291),
    ("_get_data", "/usr/lib/python3/site-packages/torch/utils/data/dataloader.py", 1464),
)


def located(program: str) -> Verdict:
    run = play(2, train="import torch.distributed as dist\n\ndef main():\n    dist.all_reduce(0)\n")
    at = next(n for n, line in enumerate(program.splitlines(), 1) if "in DataLoader" in line)
    seen = {
        1: (*LOADER, ("main", "/workspace/train/train.py", at), ("<module>", "/workspace/train/train.py", 60))
    }
    verdict = verdict_of(run, 1, "host_blocked", made=False)
    return locate(case_of(run, seen), diagnosis_of(verdict), tree({"train.py": program})).verdicts[0]


def test_the_place_where_the_worker_may_wait_for_a_lock_that_a_thread_takes() -> None:
    verdict = located(PROGRAM)
    marked = next(n for n, line in enumerate(PROGRAM.splitlines(), 1) if MARK in line)
    assert place(verdict.location) == ("train.py", marked)
    assert "If the worker was forked meanwhile" in verdict.sentence


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("threading.Thread(target=self.fetch_all, args=(names,)).start()", "self.fetch_all(names)"),
        ("DataLoader(Tiles(scratch))", "DataLoader(Tiles(scratch), multiprocessing_context='spawn')"),
        ("        with self.lock:\n            for name", "        if names:\n            for name"),
        ("self.lock = threading.Lock()", "self.lock = open('lock')"),
    ],
    ids=["no thread", "not forked", "another lock", "no lock of threads"],
)
def test_nothing_is_said_where_no_lock_can_be_inherited(old: str, new: str) -> None:
    assert old in PROGRAM
    assert located(PROGRAM.replace(old, new)).location is None


def test_a_thread_by_a_class_of_its_own() -> None:
    started = "threading.Thread(target=self.fetch_all, args=(names,)).start()"
    own = "\n\nclass Fetcher(threading.Thread):\n    def run(self):\n        Scratch().fetch_all([])\n"
    assert located(PROGRAM.replace(started, "Fetcher().start()") + own).location is not None
