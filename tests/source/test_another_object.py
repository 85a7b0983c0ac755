"""Lines that decide away from where the ranks part: what object a rank was given, what it looked up in vain, and which
of two loops, one in the other, was over."""

from __future__ import annotations

import polars as pl
import pytest
from msgspec import structs
from support.source.toy_runs import case_of, diagnosis_of, locate, located, place, play, tree, verdict_of

from rankandfile.model.case import Case

OBJECTS = """
import torch.distributed as dist


class Curves:
    def add(self, n):
        dist.all_gather(n)


class Silent:
    def add(self, n):
        pass


def curves_for(speaks):
    if speaks:  # <-
        return Curves()
    return Silent()


def main():
    curves = curves_for(dist.get_rank() % 2 == 0)
    for n in range(3):
        dist.all_reduce(n)
        BEFORE
        curves.add(n)
"""


def test_whoever_was_given_an_object_that_makes_a_call_was_given_it_by_a_test() -> None:
    run = play(4, train=OBJECTS.replace("BEFORE", "n += 1"))
    given = structs.replace(verdict_of(run, 0, "rank_conditional"), culprits=[])
    found = locate(case_of(run), diagnosis_of(given), tree(run.files)).verdicts[0]
    assert place(found.location) == run.marked
    assert "on the others it makes no call" in found.sentence


def test_who_has_not_come_to_the_line_yet_tells_nothing_of_its_object() -> None:
    """Rank 0 left the call before it out; the others are in that, whatever object they have."""
    run = play(4, train=OBJECTS.replace("BEFORE", "if dist.get_rank(): dist.broadcast(n, src=1)"))
    found = located(run, 0)
    assert place(found.location) != run.marked
    assert "on the others it makes no call" not in found.sentence


BY_KEY = """
import torch.distributed as dist


class Pairs:
    def loss(self, rows):
        dist.all_gather(rows)


class Tags:
    def loss(self, rows):
        pass


def share(kind, upto):
    for row in range(upto):
        if row % 3 == dist.get_rank() and (kind != "pair" or row not in (1, 4)):  # <-
            yield row


def mix(sources):
    while sources:
        for name in list(sources):
            try:
                rows = next(sources[name])
            except StopIteration:
                del sources[name]
            else:
                yield name, rows


TASKS = {"pair": Pairs(), "tag": Tags()}


def learn(name, rows):
    task = TASKS[name]
    task.loss(rows)
    dist.all_reduce(rows)


def main():
    for name, rows in mix({"tag": share("tag", 30), "pair": share("pair", 18)}):
        learn(name, rows)
"""


def test_whose_turn_it_is_in_a_mix_of_the_ranks_own_sources_is_said_by_what_makes_these_uneven() -> None:
    """Both learn, rank 1 with the object that makes no call: its source of pairs has come to its end."""
    run = play(3, train=BY_KEY)
    verdict = located(run, 1)
    assert place(verdict.location) == run.marked
    assert "calls Pairs.loss on ranks 0,2; on the others it makes no call" in verdict.sentence


LOOKED_UP = """
import torch.distributed as dist

WORDS = {0: "a", 1: "b", 2: "a"}


class Recent:
    def __init__(self):
        self.held = {"a": 1}

    def table(self, key):
        try:
            return self.held[key]
        except ERROR:
            dist.all_gather(1)
            self.held[key] = 2
            return 2


def main():
    recent = Recent()
    for n in range(3):
        dist.all_reduce(n)
        recent.table(WORDS[dist.get_rank()])
"""


@pytest.mark.parametrize(
    ("error", "cause"), [("KeyError", "extra_collective"), ("Exception", "swallowed_exception")]
)
def test_a_call_that_is_made_for_what_was_not_found_is_one_more_and_no_failure_kept(
    error: str, cause: str
) -> None:
    run = play(train=LOOKED_UP.replace("ERROR", error))
    given = verdict_of(run, 1, "rank_conditional")
    assert locate(case_of(run), diagnosis_of(given), tree(run.files)).verdicts[0].cause == cause


LOOPS = """
import torch.distributed as dist


def spent(n):
    return n > 2 + 2 * (dist.get_rank() != 1)


def rounds():
    n = 0
    while not spent(n):
        yield n
        n += 1


def update(model):
    for part in model.parameters():
        dist.all_reduce(part)


class Model:
    def __init__(self, parts):
        self.parts = parts

    def parameters(self):
        return self.parts


def main():
    model = Model(open("model.txt").read().split())
    for n in rounds():  # <-
        update(model)
    dist.all_gather(0)
"""


STEPS = """
import torch.distributed as dist

HELD = {0: "a", 2: "c"}


def step(key):
    held = HELD[key]
    dist.broadcast(held, src=0)
    return held


def main():
    for n in range(3):
        dist.all_reduce(n)
        try:
            step(dist.get_rank() if n else 0)
        except KeyError:
            dist.all_gather(n)
"""


def test_a_failure_in_the_midst_of_a_step_is_one_that_was_kept() -> None:
    run = play(train=STEPS)
    given = verdict_of(run, 1, "rank_conditional")
    assert (
        locate(case_of(run), diagnosis_of(given), tree(run.files)).verdicts[0].cause == "swallowed_exception"
    )


def with_sizes(case: Case, sizes: list[int]) -> Case:
    """The calls of each rank in these sizes, by turns."""
    turns = pl.int_range(pl.len()).over("rank") % len(sizes)
    calls = case.calls.with_columns(shape=turns.replace_strict(dict(enumerate(sizes))).cast(pl.UInt32))
    return structs.replace(case, calls=calls)


@pytest.mark.parametrize("sizes", [[5, 6, 7], [5]], ids=["of several sizes", "all of one size"])
def test_a_loop_whose_sizes_begin_anew_was_over_for_all(sizes: list[int]) -> None:
    text = LOOPS.replace('open("model.txt").read().split()', "[0, 1, 2]")
    run = play(train=text)
    run.files["train.py"] = run.files["train.py"].replace("[0, 1, 2]", 'open("model.txt").read().split()')
    found = locate(
        with_sizes(case_of(run), sizes),
        diagnosis_of(verdict_of(run, 1, "rank_conditional")),
        tree(run.files),
    ).verdicts[0]
    if len(sizes) > 1:
        assert place(found.location) == run.marked
    else:
        # Which of the two loops was over does not show: nothing is said to be certain of it.
        assert found.confidence != "established"


MEMO = """
def kept(function):
    known = {}

    def asked(key):
        if key not in known:
            known[key] = function(key)
        return known[key]

    return asked
"""

ELSEWHERE = """
import torch.distributed as dist
from memo import kept


class Model:
    def parts(self):
        return [0, 1, 2]


@kept
def weight(bucket):
    dist.all_reduce(bucket)
    return bucket


def update(model):
    for part in model.parts():
        dist.all_reduce(part)


def main():
    model = Model()
    for bucket in [[0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1]][dist.get_rank()]:
        weight(bucket)
        update(model)
"""


@pytest.mark.parametrize("sizes", [[4, 5, 6, 7], [5]], ids=["of several sizes", "all of one size"])
def test_a_loop_that_was_over_for_all_is_not_said_to_have_gone_on(sizes: list[int]) -> None:
    """Rank 1 makes a call of its own behind the loop: that others come to the loop again is no other round of it."""
    run = play(train=ELSEWHERE, memo=MEMO)
    case, files = case_of(run), {"train.py": run.files["train.py"]}
    of_update = {0: 5, 1: 6, 2: 7} if len(sizes) > 1 else dict.fromkeys(range(3), 5)
    shape = (pl.col("record").cast(pl.Int64) - 1) % 3
    case = structs.replace(
        case, calls=case.calls.with_columns(shape=shape.replace_strict(of_update).cast(pl.UInt32))
    )
    found = locate(case, diagnosis_of(verdict_of(run, 1)), tree(files)).verdicts[0]
    assert ("another round on ranks 0,2" in found.sentence) is (len(sizes) == 1)
