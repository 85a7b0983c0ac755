"""The line that a person would change, where the ways part elsewhere: in a framework, a table, a list, a share."""

from __future__ import annotations

import polars as pl
import pytest
from msgspec.structs import replace
from support.source.toy_runs import case_of, diagnosis_of, locate, located, place, play, tree, verdict_of

from rankandfile.model.claims import LeftOut
from rankandfile.render.headline import headline

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

DECORATED = """
import torch.distributed as dist


def retry(times):
    def around(function):
        def again(*args):
            for _ in range(times):
                try:
                    return function(*args)
                except ValueError:
                    pass

        return again

    return around


class Shards:
    def __init__(self):
        self.checked = set()

    @retry(3)  # <-
    def read(self, n):
        dist.all_reduce(n)
        if dist.get_rank() == 1 and n == 2 and n not in self.checked:
            self.checked.add(n)
            raise ValueError
        return [n, n + 1]


def main():
    shards = Shards()
    for n in range(4):
        for batch in shards.read(n):
            dist.broadcast(batch, src=0)
    dist.barrier()
"""

EPOCHS = """
import torch.distributed as dist


class LightningModule:
    logged = ()

    def log_dict(self, values, sync_dist=False):
        self.logged = {**dict(self.logged), **values}


class Trainer:
    def fit(self, model, data):
        for _ in range(2):
            self.advance(model, data)
            self.on_advance_end(model)

    def advance(self, model, data):
        for batch in data:
            dist.broadcast(batch, src=0)
            model.training_step(batch)

    def on_advance_end(self, model):
        for value in dict(model.logged).values():
            self._get_cache(value)

    def _get_cache(self, value):
        dist.all_reduce(value)
"""

MIXED_IN = """
from lightning import LightningModule, Trainer
from parts import parts_of
from stream import Stream
import torch.distributed as dist


class Breakdown:
    def breakdown(self, parts):
        self.log_dict({f"fit/{key}": value for key, value in parts.items()}, sync_dist=True)  # <-


class Model(Breakdown, LightningModule):
    def training_step(self, batch):
        self.breakdown(parts_of(batch))


def main():
    Trainer().fit(Model(), Stream([3, 3, 3, 14, 5, 14], dist.get_rank(), dist.get_world_size()))
    dist.barrier()
"""

PARTS = """
def parts_of(batch):
    parts = {"loss": batch}
    if batch > 9:
        parts["rare"] = batch
    return parts
"""

LIGHTNING = "site-packages/lightning/__init__"
PROGRAMS = {
    "what is logged by a class that is mixed in": {
        LIGHTNING: EPOCHS,
        "parts": PARTS,
        "stream": STREAM.replace("  # <-", ""),
        "train": MIXED_IN,
    },
    "a flag of the trainer": {LIGHTNING: FRAMEWORK, "watch": WATCH, "train": STOPS},
    "a collective in a hook": {LIGHTNING: FRAMEWORK, "train": HOOK},
    "shares behind the trainer": {LIGHTNING: FRAMEWORK, "stream": STREAM, "train": SHARE},
    "a table of functions": {"train": TABLE},
    "a list of hooks": {"hooks": WANTED, "train": HOOKS},
    "a retry": {"train": RETRY},
    "a retry before a loop that may have had nothing to do": {"train": DECORATED},
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_line_is_the_users(name: str) -> None:
    run = play(**PROGRAMS[name])
    verdict = located(run, culprit=2 if name.startswith("shares") else 1)
    assert place(verdict.location) == run.marked
    assert "site-packages" not in verdict.sentence


@pytest.mark.parametrize(("items", "named"), [(8, [2]), (7, [])], ids=["one had fewer", "one had more"])
def test_who_had_no_batch_left_in_a_frameworks_loop_is_named_if_no_more_than_the_others(
    items: int, named: list[int]
) -> None:
    run = play(
        **{LIGHTNING: FRAMEWORK, "stream": STREAM, "train": SHARE.replace("range(8)", f"range({items})")}
    )
    nobody = replace(verdict_of(run, 2 if named else 0), culprits=[])
    found = locate(case_of(run), diagnosis_of(nobody), tree(run.files)).verdicts[0]
    assert [culprit.rank for culprit in found.culprits] == named
    assert (found.cause == "uneven_inputs") == bool(named)


def test_who_is_in_the_loop_anew_had_no_more_than_the_others() -> None:
    """They have all left it since: the call that one made less is behind it."""
    program = PROGRAMS["what is logged by a class that is mixed in"]
    run = play(**{name: text.replace("log_dict", "keep") for name, text in program.items()})
    found = located(run, culprit=1)
    assert "no batch left" not in found.sentence and found.cause != "uneven_inputs", found.sentence


def test_where_a_flag_may_have_ended_the_loop_as_well_nobody_is_said_to_have_had_less() -> None:
    quota = """
        from lightning import Callback

        class Quota(Callback):
            def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
                if vars(self)["limit"] <= batch_idx:
                    trainer.should_stop = True
    """
    train = SHARE.replace("import Trainer", "import Trainer\nfrom quota import Quota").replace(
        "Trainer()", "Trainer(callbacks=[limited(Quota())])"
    )
    train += """

def limited(quota):
    quota.limit = 0 if dist.get_rank() == 2 else 99
    return quota
"""
    train = train.replace("range(8)", "range(9)")
    run = play(
        **{LIGHTNING: FRAMEWORK, "stream": STREAM.replace("  # <-", ""), "quota": quota, "train": train}
    )
    nobody = replace(verdict_of(run, 2), culprits=[])
    found = locate(case_of(run), diagnosis_of(nobody), tree(run.files)).verdicts[0]
    assert not found.culprits and found.cause != "uneven_inputs", found.sentence


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


MORE_ON_ONE = """
import torch.distributed as dist


def shard(rank):
    label = "long" if rank == 1 else "short"
    print(label)
    return list(range(40))[rank :: 3] + [9, 9] * (rank == 1)


def epoch(shards):
    for item in shards:  # <-
        dist.all_reduce(item)


def main():
    epoch(shard(dist.get_rank()))
    dist.broadcast(0)
"""


def test_who_goes_round_once_more_has_left_nothing_out_behind_the_loop() -> None:
    run = play(train=MORE_ON_ONE)
    verdict = located(run, culprit=1)
    assert place(verdict.location) == run.marked
    assert verdict.cause == "uneven_inputs"
    assert headline(verdict, 3) == "HANG: rank 1 had more data than the others"
    assert not any(isinstance(claim, LeftOut) for claim in verdict.claims)
    assert "label" not in verdict.sentence


LEAVES_BY_AN_ERROR = """
import os
import torch.distributed as dist


def first_here():
    return os.environ.get("LOCAL_RANK") == "0"


def push(rows, at):
    if first_here() and rows is None:
        return
    try:
        row = rows[at]
    except IndexError:  # <-
        return
    dist.all_gather(row)


def main():
    for n in range(3):
        push([1, 2, 3], 9 if dist.get_rank() == 2 and n == 1 else n)
        dist.all_reduce(0)
"""


def test_a_part_that_a_rank_never_asks_for_did_not_part_it() -> None:
    """`rows is None` is open on every rank, but only the first of the host comes to ask it."""
    run = play(train=LEAVES_BY_AN_ERROR)
    case = case_of(run)
    dumps = case.dumps.with_columns(pl.lit("node0").alias("host"))
    verdict = locate(replace(case, dumps=dumps), diagnosis_of(verdict_of(run, 2)), tree(run.files)).verdicts[
        0
    ]
    assert place(verdict.location) == run.marked
    assert "first_here" not in verdict.sentence


STOPS_BY_ONE_OF_TWO = """
import random
import time
import torch.distributed as dist


class Watch:
    def __init__(self, patience):
        self.patience, self.enough, self.begun = patience, False, time.time()

    def see(self, loss):
        self.enough = callback(self, loss)


def fit(watch):
    for n in range(5):
        dist.all_reduce(n)
        watch.see(n)
        over = time.time() - watch.begun > 9000
        if watch.enough or over:  # <-
            break


def main():
    fit(Watch(2 if dist.get_rank() == 1 else 4))
    dist.barrier()


def callback(watch, loss):
    return loss >= watch.patience
"""


def test_of_an_or_all_parts_that_may_have_decided_are_told() -> None:
    run = play(train=STOPS_BY_ONE_OF_TWO)
    verdict = located(run, culprit=1)
    assert place(verdict.location) == run.marked
    assert verdict.location is not None and verdict.location.because is not None
    assert "by `over`, or on what `watch.enough` is" in verdict.location.because or "`watch.enough`" in str(
        verdict.location
    )


TWO_STATEMENTS = """
import torch.distributed as dist
from torch.distributed import barrier as meet


def main():
    if dist.get_rank() == 1:  # <-
        meet(); dist.destroy_process_group() if "destroy_process_group" in vars(dist) else None
    dist.all_reduce(0)
"""


def test_a_call_beside_an_implied_one_is_written_there() -> None:
    verdict = located(play(train=TWO_STATEMENTS), culprit=1)
    assert "is not written there" not in verdict.sentence


ASKED_LAST = """
import torch.distributed as dist
from accelerate import Accelerator


class Patience:
    def __init__(self, enough):
        self.enough, self.waited = enough, 0

    @property
    def exhausted(self):
        return self.waited >= self.enough


def over(accelerator, patience, loss):
    if patience.exhausted:
        accelerator.set_trigger()
    return patience.exhausted or accelerator.check_trigger()  # <-


def main():
    accelerator, patience = Accelerator(), Patience(2 if dist.get_rank() == 1 else 4)
    for n in range(8):
        dist.broadcast(n, src=0)
        patience.waited += float(n) >= 0
        if n % 1 == 0 and over(accelerator, patience, n):
            break
    dist.barrier()
"""

TRIGGERS = """
import torch.distributed as dist


class Accelerator:
    def set_trigger(self):
        self.flag = True

    def check_trigger(self):
        dist.all_reduce(0)
        return False
"""


def test_a_call_of_a_framework_that_the_line_before_it_leaves_out() -> None:
    """Its name tells which call of the line leads into the framework: what stands before it there decides."""
    run = play(train=ASKED_LAST, **{"site-packages/accelerate/__init__": TRIGGERS})
    verdict = located(run, culprit=1)
    assert place(verdict.location) == run.marked
    assert verdict.location is not None and "patience.exhausted or" in str(verdict.location.condition)
