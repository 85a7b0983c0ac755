"""The line that a person would change, where the ways part elsewhere: in a framework, a table, a list, a share."""

from __future__ import annotations

import pytest
from support.source.toy_runs import located, place, play

FRAMEWORK = """
import torch.distributed as dist


class Callback:
    pass


class IterableDataset:
    pass


class Trainer:
    def __init__(self, callbacks=()):
        self.callbacks = list(callbacks)
        self.should_stop = False

    def fit(self, model, data):
        for number, batch in enumerate(data):
            self.advance(model, batch, number)
            if self.should_stop:
                break

    def advance(self, model, batch, number):
        dist.all_reduce(0)
        loss = model.training_step(batch, number)
        for callback in self.callbacks:
            callback.on_train_batch_end(self, model, {"loss": loss}, batch, number)
"""

STOPS = """
from lightning import Callback, Trainer
from watch import Watch
import torch.distributed as dist


class Model:
    def training_step(self, batch, number):
        return batch


class Wild(Callback):
    def __init__(self):
        self.watch = Watch()

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if self.watch.worse(outputs["loss"]):  # <-
            trainer.should_stop = True


def main():
    rank = dist.get_rank()
    trainer = Trainer([Wild()])
    trainer.fit(Model(), [1 + 9 * (rank == 1 and n == 3) for n in range(8)])
    dist.barrier()
"""

WATCH = """
class Watch:
    limit = 5

    def worse(self, loss):
        return loss > self.limit
"""

HOOK = """
from lightning import Callback, Trainer
import torch.distributed as dist


class Model:
    def training_step(self, batch, number):
        return batch


class Rare(Callback):
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if outputs["loss"] > 5:  # <-
            dist.all_gather(outputs)


def main():
    rank = dist.get_rank()
    Trainer([Rare()]).fit(Model(), [1 + 9 * (rank == 1 and n == 3) for n in range(8)])
    dist.barrier()
"""

SHARE = """
from lightning import Trainer
from stream import Stream
import torch.distributed as dist


class Model:
    def training_step(self, batch, number):
        return batch


def main():
    Trainer().fit(Model(), Stream(range(8), dist.get_rank(), dist.get_world_size()))
    dist.barrier()
"""

STREAM = """
class Stream:
    def __init__(self, items, rank, world):
        self.items, self.rank, self.world = items, rank, world

    def __iter__(self):
        for number, item in enumerate(self.items):
            if number % self.world != self.rank % self.world:  # <-
                continue
            yield item
"""

TABLE = """
import torch.distributed as dist


def both(n):
    dist.all_reduce(n)


def least(n):
    dist.broadcast(n, src=0)


HANDLERS = {"both": both, "least": least}


def kind_of(n):
    if dist.get_rank() == 1 and n == 2:  # <-
        return "least"
    return "both"


def main():
    for n in range(5):
        kind = kind_of(n)
        HANDLERS[kind](n)
    dist.barrier()
"""

HOOKS = """
import torch.distributed as dist
from hooks import wanted


class Engine:
    def __init__(self, hooks):
        self.hooks = list(hooks)

    def run(self):
        for n in range(4):
            dist.all_reduce(n)
            for hook in self.hooks:
                hook(n)


def main():
    Engine(wanted()).run()
    dist.barrier()
"""

WANTED = """
import torch.distributed as dist


class Gathers:
    def __call__(self, n):
        dist.all_gather(n)


class Quiet:
    def __call__(self, n):
        return n


def wanted():
    hooks = [Quiet()]
    if dist.get_rank() == 1:  # <-
        hooks.append(Gathers())
    return hooks
"""

RETRY = """
import torch.distributed as dist


class Full(Exception):
    pass


class Store:
    def __init__(self, rank):
        self.rank, self.used = rank, 0

    def put(self, n):
        if self.rank == 1 and n == 2 and not self.used:
            self.used = 1
            raise Full
        return n


def again(action):
    for _ in range(3):
        try:
            return action()
        except Full:  # <-
            pass


def main():
    store = Store(dist.get_rank())
    for n in range(4):
        dist.broadcast(n, src=0)

        def once():
            dist.all_reduce(n)
            store.put(n)

        again(once)
    dist.barrier()
"""

LIGHTNING = "site-packages/lightning/__init__"
PROGRAMS = {
    "a flag of the trainer": {LIGHTNING: FRAMEWORK, "watch": WATCH, "train": STOPS},
    "a collective in a hook": {LIGHTNING: FRAMEWORK, "train": HOOK},
    "shares behind the trainer": {LIGHTNING: FRAMEWORK, "stream": STREAM, "train": SHARE},
    "a table of functions": {"train": TABLE},
    "a list of hooks": {"hooks": WANTED, "train": HOOKS},
    "a retry": {"train": RETRY},
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_line_is_the_users(name: str) -> None:
    run = play(**PROGRAMS[name])
    verdict = located(run, culprit=2 if name.startswith("shares") else 1)
    assert place(verdict.location) == run.marked
    assert "site-packages" not in verdict.sentence


def test_a_flag_is_told_with_what_stores_it() -> None:
    verdict = located(play(**PROGRAMS["a flag of the trainer"]), culprit=1)
    assert "Lightning stops training upon `trainer.should_stop`, as rank 1 alone did" in verdict.sentence
    assert "`trainer.should_stop = True` (train.py:17)" in verdict.sentence


def test_two_callees_of_one_line_are_told() -> None:
    verdict = located(play(**PROGRAMS["a table of functions"]), culprit=1)
    assert "calls both on ranks 0,2 and least on rank 1" in verdict.sentence


LEFT_OUT = """
import torch.distributed as dist


def fit(batches):
    for batch in batches:
        if not usable(batch):  # <-
            continue
        dist.all_reduce(batch)


def usable(batch):
    return batch >= 0


def load():
    return [1, 2, -3 if dist.get_rank() == 1 else 3, 4]


def main():
    fit(load())
    dist.all_gather(0)
"""


def test_the_test_by_which_rounds_go_without_the_call() -> None:
    run = play(train=LEFT_OUT)
    verdict = located(run, culprit=1)
    assert place(verdict.location) == run.marked
