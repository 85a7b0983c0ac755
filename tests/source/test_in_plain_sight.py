"""The one decision between two ways that ranks took, of which nothing shows that it can differ."""

from __future__ import annotations

import pytest
from support.source.toy_runs import case_of, diagnosis_of, locate, place, play, tree, verdict_of

STAGES = """
    from functools import reduce

    def chained(*stages):
        return lambda rows: reduce(lambda rows, stage: stage(rows), stages, rows)

    def without(bad):
        def stage(rows):
            return (row for row in rows if not bad(row))
        return stage
"""

FIT = """
    import torch.distributed as dist
    from stages import chained, without

    def step(block):
        dist.all_reduce(block)

    def blocks(me):
        return chained(without(lambda row: me == 1 and row == 2))(range(3))

    def main():
        for epoch in range(2):
            for block in blocks(dist.get_rank()):  # <-
                step(block)
            dist.all_gather(epoch)
"""

KEPT = """
    class Kept:
        def __init__(self, most):
            self.most, self.items = most, {}

        def get(self, key):
            return self.items.get(key)

        def put(self, key, value):
            while len(self.items) >= self.most:
                self.items.pop(next(iter(self.items)))
            self.items[key] = value
"""

SERVE = """
    import torch.distributed as dist
    from kept import Kept

    class Board:
        def __init__(self, kept):
            self.kept = kept

        def see(self, n):
            if n == 3:
                self.kept.put("map", n)

    class Tables:
        def __init__(self):
            self.kept = Kept(2)

        def table(self, name):
            found = self.kept.get(name)
            if found is None:  # <-
                found = name
                dist.broadcast(found, src=0)
                self.kept.put(name, found)
            return found

    def boards_of(tables):
        return [Board(tables.kept) for where in (1,) if where == dist.get_rank()]

    def main():
        tables = Tables()
        boards = boards_of(tables)
        for n in range(6):
            tables.table("ab"[n % 2])
            for board in boards:
                board.see(n)
            dist.all_reduce(n)
"""


OPTIONS = """
    HOMES = {}

    def home(cls):
        HOMES[cls.__name__] = cls
        return cls

    def put(where, name, value):
        cls = HOMES[where]
        setattr(cls, name, value)
"""

SCALES = """
    import torch.distributed as dist
    from options import home, put

    @home
    class Scale:
        shared: bool = True

        def __call__(self, x):
            if self.shared:  # <-
                dist.all_reduce(x)
            return x

    def main():
        scale = Scale()
        for n in range(6):
            if n == 3 and dist.get_rank() == 1:
                put("Scale", "shared", False)
            scale(n)
            dist.all_gather(n)
"""


def test_an_option_of_a_class_that_a_table_holds_is_no_constant() -> None:
    """In the function that one rank left out the call in, one test stands: neither is it shown to differ, nor equal."""
    run = play(train=SCALES, options=OPTIONS)
    found = locate(case_of(run), diagnosis_of(verdict_of(run, 1)), tree(run.files)).verdicts[0]
    assert place(found.location) == run.marked


STOPS = """
    class Stop(Exception):
        pass

    def patience(rounds):
        state = {"bad": 0}

        def check(value):
            state["bad"] += value
            if state["bad"] > rounds:
                raise Stop

        return check
"""

FITS = """
    import json
    import torch.distributed as dist
    from stops import Stop, patience

    class Trainer:
        def __init__(self, checks):
            self.checks = checks

        def tell(self, name, value):
            for check in self.checks:
                getattr(check, name)(value)

        def fit(self, held):
            try:
                self.rounds(held)
            except Stop:  # <-
                print("no gain")

        def rounds(self, held):
            for n in range(6):
                dist.all_reduce(n)
                value = json.loads(held[n])
                self.tell("__call__", value)

    def main():
        trainer = Trainer([patience(2)])
        trainer.fit(["1" if dist.get_rank() == 1 else "0"] * 6)
        dist.all_gather(1)
"""


def test_one_handler_kept_it_whichever_call_raised() -> None:
    run = play(train=FITS, stops=STOPS)
    found = locate(case_of(run), diagnosis_of(verdict_of(run, 1)), tree(run.files)).verdicts[0]
    assert (place(found.location), found.cause) == (run.marked, "swallowed_exception")


SUITE = """
    import argparse
    import torch.distributed as dist

    class Ratio:
        def __init__(self, pairs):
            self.pairs = pairs

        def compute(self):
            total = sum(one / other for one, other in self.pairs)
            dist.all_reduce(total)
            return total

    def results(metrics):
        for metric in metrics:
            try:
                yield metric.compute()
            except Exception:  # <-
                yield None

    def best(history):
        box = [max(history, key=lambda part: part) + 1 if dist.get_rank() == 0 else None]
        dist.broadcast(box, src=0)
        return box[0]

    def main():
        history, numbers = [], argparse.Namespace()
        for part in range(3):
            setattr(numbers, f"of_{part}", part if dist.get_rank() == 1 else 1)
        for part in range(3):
            list(results([Ratio([(1, 2)]), Ratio([(1, getattr(numbers, f"of_{part}"))])]))
            history.append(part)
            best(history)
"""


def test_of_a_rank_that_caught_an_exception_the_handler_comes_before_a_test_of_its_number() -> None:
    run = play(train=SUITE)
    verdict = verdict_of(run, 1, "swallowed_exception")
    found = locate(case_of(run), diagnosis_of(verdict), tree(run.files)).verdicts[0]
    assert place(found.location) == run.marked


SESSION = """
    import json
    import torch.distributed as dist

    class Session:
        def __enter__(self):
            return self

        def __exit__(self, *exc):
            dist.barrier()

    def rows_of(part):
        return [float(row) for row in json.loads(part)]

    def total(rows):
        dist.all_reduce(len(rows))

    def main():
        try:
            survey()
        except ValueError:
            raise SystemExit(1)

    def survey():
        with Session() as session:
            for n in range(3):
                text = '["x"]' if n == 1 and dist.get_rank() == 1 else "[1]"
                rows = rows_of(text)  # <-
                total(rows)
"""


def test_who_is_in_the_exit_of_a_with_raised_in_its_block() -> None:
    run = play(train=SESSION)
    found = locate(case_of(run), diagnosis_of(verdict_of(run, 1)), tree(run.files)).verdicts[0]
    assert place(found.location) == run.marked


def test_a_loop_that_was_over_on_one_rank_alone() -> None:
    run = play(train=FIT, stages=STAGES)
    verdict = verdict_of(run, 1, "rank_conditional")
    found = locate(case_of(run), diagnosis_of(verdict), tree(run.files)).verdicts[0]
    assert place(found.location) == run.marked
    assert found.cause == "uneven_inputs"


def test_what_was_kept_seems_the_same_on_all_ranks() -> None:
    run = play(train=SERVE, kept=KEPT)
    found = locate(case_of(run), diagnosis_of(verdict_of(run, 1)), tree(run.files)).verdicts[0]
    assert place(found.location) == run.marked


def test_of_ranks_that_went_one_way_no_line_is_named() -> None:
    run = play(train=FIT.replace("me == 1 and ", ""), stages=STAGES)
    assert len({tuple(map(str, calls)) for calls in run.calls.values()}) == 1
    found = locate(case_of(run), diagnosis_of(verdict_of(run, 1, made=False)), tree(run.files)).verdicts[0]
    assert place(found.location) is None


SAVES = """
    import os
    import torch.distributed as dist

    class Place:
        def __init__(self):
            self.told = int(os.environ["TOLD"])
            self.many = int(os.environ["MANY"])

    class Trainer:
        def __init__(self, place):
            self.place = place

        def fit(self):
            for step in range(9):
                self.step(step)
                if {test}:  # <-
                    self.save()

        def step(self, n):
            dist.all_reduce(n)

        def save(self):
            {save}

    def main():
        os.environ.update(TOLD="6" if dist.get_rank() == 1 else "99", MANY="2")
        Trainer(Place()).fit()
        dist.barrier()
"""


@pytest.mark.parametrize(
    "test", ["self.place.told == 6 and step % 6 == 5", "(step + 1) % self.place.told == 0"]
)
@pytest.mark.parametrize(
    "save",
    [
        "parts = [0 for _ in range(self.place.many)]\n            dist.all_gather(parts)",
        "if self.place.many > 2:\n                return\n            dist.all_gather(1)",
    ],
)
def test_ranks_that_were_never_seen_in_a_function_did_not_part_in_it(test: str, save: str) -> None:
    run = play(train=SAVES.format(test=test, save=save))
    found = locate(case_of(run), diagnosis_of(verdict_of(run, 1)), tree(run.files)).verdicts[0]
    assert place(found.location) == run.marked
