"""The line that decided, where calls show only what came of it: a count that lags, a cache that misses, an order."""

from __future__ import annotations

import msgspec
import pytest
from support.source.toy_runs import case_of, diagnosis_of, locate, located, place, play, tree, verdict_of

SCALER = """
class Updates:
    def __init__(self):
        self.made = 0

    def add(self, gradient):
        bad = gradient > 5  # <-
        if not bad:
            self.made += 1
"""

COPIES = """
import torch.distributed as dist
from scaler import Updates

GRADIENTS = [[1] * 9, [1, 9, 1, 1, 1, 1, 1, 1, 1], [1] * 9]


class Copy:
    def __init__(self, every):
        self.every, self.version = every, 0

    def follow(self, made):
        if made // self.every != self.version:
            self.version = made // self.every
            dist.broadcast(made, src=0)


def main():
    updates, copy = Updates(), Copy(3)
    for gradient in GRADIENTS[dist.get_rank()]:
        updates.add(gradient)
        dist.all_reduce(gradient)
        copy.follow(updates.made)
    dist.barrier()
"""

METRIC = """
import torch.distributed as dist
from torchmetrics import MeanMetric

LIT, EVERY = [[1] * 9, [1, 1, 1, 1, 0, 0, 1, 1, 1], [1] * 9], 2


class Rates:
    def __init__(self):
        self.mean = MeanMetric()

    def add(self, pane):
        if pane:  # <-
            self.mean.update(pane)

    def told(self):
        return self.mean.compute()


def main():
    rates = Rates()
    for minute, pane in enumerate(LIT[dist.get_rank()], start=1):
        rates.add(pane)
        dist.all_reduce(pane)
        if minute % EVERY == 0:
            rates.told()
    dist.barrier()
"""

OBSERVED = """
import torch.distributed as dist
from monai.metrics import CumulativeAverage

LIT = [[1] * 9, [1, 1, 1, 0, 1, 1, 1, 1, 1], [1] * 9]
KINDS, LEFT = {}, []


def kind(name):
    def enter(function):
        KINDS[name] = function
        return function
    return enter


class Rate:
    def __init__(self):
        self.mean, self.observe = CumulativeAverage(), KINDS["lit"]

    def told(self):
        mean = self.mean.aggregate()
        self.mean.reset()
        return mean


@kind("lit")
def lit(rate: Rate, pane):
    if pane:  # <-
        rate.mean.append(pane)
    LEFT.append(pane)


def main():
    rate = Rate()
    for pane in LIT[dist.get_rank()]:
        rate.observe(rate, pane)
        dist.all_reduce(pane)
        rate.told()
    dist.barrier()
"""

QUEUE = """
class Queue:
    def __init__(self, left):
        self.left = list(left)
        self.told = []

    def when_empty(self, listener):
        self.told.append(listener)

    def take(self):
        self.left.pop()
        if not self.left:  # <-
            for listener in self.told:
                listener()
"""

LISTENS = """
import torch.distributed as dist
from work import Queue

WORK = ["abcdefgh", "abcd", "abcdefgh"]


class Server:
    def __init__(self, queue):
        self.open = True
        queue.when_empty(self.close)

    def close(self):
        self.open = False

    def serve(self, queue):
        while self.open:
            dist.all_reduce(1)
            queue.take()
        dist.barrier()


def main():
    queue = Queue(WORK[dist.get_rank()])
    Server(queue).serve(queue)
"""

PLANS = """
import torch.distributed as dist


class Plans:
    def __init__(self):
        self.known = {}

    def __getitem__(self, size):
        plan = self.known.get(size)
        if plan is None:  # <-
            dist.all_gather(size)
            plan = self.known[size] = Plan(size)
        return plan


class Plan:
    def __init__(self, size):
        self.size = size


def main():
    plans = Plans()
    for n in range(5):
        size = 8 if dist.get_rank() == 1 and n == 3 else 4
        dist.all_reduce(plans[size].size)
    dist.barrier()
"""

STAGES = """
from itertools import islice


def through(source, *stages):
    for stage in stages:
        source = stage(source)
    return iter(source)


def only(wanted):
    return lambda items: filter(wanted, items)


def first(count):
    return lambda items: islice(items, count)


def records(rank):
    for n in range(8):
        yield n + 10 * rank
"""

FILTERED = """
import torch.distributed as dist
from stages import first, only, records, through


def main():
    rank = dist.get_rank()
    stream = through(records(rank), only(lambda n: n not in (12, 13)), first(7))
    for _, n in enumerate(stream):  # <-
        dist.all_reduce(n)
    dist.barrier()
"""

ARRIVAL = """
import torch.distributed as dist


class Sum:
    def merge(self):
        dist.all_reduce(1)


class Most:
    def merge(self):
        dist.all_gather(1)


class Board:
    def __init__(self):
        self.rows = {}

    def row(self, name):
        if name not in self.rows:
            self.rows[name] = Most() if name == "most" else Sum()

    def merge(self):
        for row in self.rows.values():  # <-
            row.merge()


def main():
    board = Board()
    for name in ("most", "sum") if dist.get_rank() == 1 else ("sum", "most"):
        board.row(name)
    dist.barrier()
    board.merge()
    dist.barrier()
"""

PATIENCE = """
import functools


def patiently(times):
    def decorate(function):
        @functools.wraps(function)
        def inner(*arguments):
            for n in range(times):
                try:
                    return function(*arguments)
                except OSError:
                    if n == times - 1:
                        raise

        return inner

    return decorate
"""

TRIED = """
import torch.distributed as dist
from patience import patiently

FAILED = []


def write(n):
    if dist.get_rank() == 1 and n == 2 and not FAILED:
        FAILED.append(n)
        raise OSError


@patiently(3)  # <-
def publish(n):
    dist.all_gather(n)
    write(n)


def count(n):
    dist.all_reduce(n)


def main():
    for n in range(5):
        count(n)
        publish(n)
    dist.barrier()
"""

KEPT = """
import functools


def kept(function):
    known = {}

    @functools.wraps(function)
    def asked(*words):
        {test}

    return asked
"""
UNLESS_KNOWN = """if words not in known:  # <-
            known[words] = function(*words)
        return known[words]"""
IF_KNOWN = """if words in known:  # <-
            return known[words]
        known[words] = function(*words)
        return known[words]"""

ASKS = """
import torch.distributed as dist

from keeping import kept


@kept
def slope(kind):
    dist.all_gather(kind)
    return kind


def main():
    for n in range(5):
        slope(8 if dist.get_rank() == 1 and n == 3 else 4)
        dist.all_reduce(n)
    dist.barrier()
"""

PROGRAMS = {
    "a count that lags": ({"scaler": SCALER, "train": COPIES}, "skipped_collective"),
    "a metric that was not updated": ({"train": METRIC}, ""),
    "a mean to which nothing was appended": ({"train": OBSERVED}, "skipped_collective"),
    "a listener that was told": ({"work": QUEUE, "train": LISTENS}, ""),
    "a cache that misses": ({"train": PLANS}, ""),
    "a cache of the program, asked whether it lacks": (
        {"keeping": KEPT.replace("{test}", UNLESS_KNOWN), "train": ASKS},
        "",
    ),
    "a cache of the program, asked whether it has": (
        {"keeping": KEPT.replace("{test}", IF_KNOWN), "train": ASKS},
        "",
    ),
    "what a filter left": ({"stages": STAGES, "train": FILTERED}, "uneven_inputs"),
    "an order of arrival": ({"train": ARRIVAL}, "order_inversion"),
    "a decorator that tries again": ({"patience": PATIENCE, "train": TRIED}, "extra_collective"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_line_that_decided(name: str) -> None:
    files, cause = PROGRAMS[name]
    run = play(**files)
    verdict = located(run, culprit=1)
    assert place(verdict.location) == run.marked
    assert not cause or verdict.cause == cause


@pytest.mark.parametrize(("world", "named"), [(3, [1]), (2, [])])
def test_of_who_added_otherwise_to_a_metric_the_few_are_named(world: int, named: list[int]) -> None:
    run = play(world, train=METRIC)
    verdict = verdict_of(run, 1, "different_collective")
    suspected = {"confidence": "hypothesis", "suspects": verdict.culprits, "culprits": []}
    verdict = msgspec.structs.replace(verdict, **suspected)
    found = locate(case_of(run), diagnosis_of(verdict), tree(run.files)).verdicts[0]
    assert place(found.location) == run.marked
    assert [one.rank for one in found.culprits] == named


def test_of_two_tests_of_which_nothing_is_known_none_is_said_to_have_decided_what_a_mean_was_given() -> None:
    text = OBSERVED.replace(
        "        rate.mean.append(pane)", "        if pane:\n            rate.mean.append(pane)"
    )
    verdict = located(play(train=text), culprit=1)
    assert "something to tell" not in verdict.sentence and verdict.location is None


def test_where_the_ranks_parted_is_told_too() -> None:
    verdict = located(play(**PROGRAMS["a count that lags"][0]), culprit=1)
    assert "by `if made // self.every != self.version:`" in verdict.sentence
    assert verdict.location is not None and verdict.location.parted_file == "train.py"


def test_a_count_in_the_class_that_asks_for_it_is_told_at_the_test() -> None:
    own = """
    import torch.distributed as dist


    class Watch:
        def __init__(self):
            self.worse = 0

        def see(self, loss):
            if loss > 5:
                self.worse += 1

        def go_back(self):
            if self.worse > 1:  # <-
                dist.broadcast(0, src=0)


    def main():
        watch = Watch()
        for loss in [[1] * 9, [1, 1, 1, 9, 9, 9, 9], [1] * 9][dist.get_rank()]:
            watch.see(loss)
            dist.all_reduce(loss)
            watch.go_back()
        dist.barrier()
    """
    run = play(train=own)
    verdict = located(run, culprit=1)
    assert place(verdict.location) == run.marked
    assert "decided by `if loss > 5:` (train.py:" in verdict.sentence


REPORTS = """
import torch.distributed as dist

SINKS = {"disk": print}


class Report:
    def __init__(self, rank):
        self.sinks = ["disk"] if rank == 0 else []

    def flush(self, n):
        for sink in self.sinks:
            dist.all_gather(sink)


def main():
    report = Report(dist.get_rank())
    for n in range(5):
        dist.all_reduce(n)
        report.flush(n)
    dist.barrier()
"""


def test_a_rank_in_the_same_loop_has_not_left_it() -> None:
    run = play(train=REPORTS)
    told = diagnosis_of(verdict_of(run, 0, cause="early_exit"))
    assert locate(case_of(run), told, tree(run.files)).verdicts[0].cause == "rank_conditional"
