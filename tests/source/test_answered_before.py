"""A function that keeps its answers is not run for what it was asked before, nor is the call inside."""

from __future__ import annotations

import pytest
from support.source.toy_runs import located, place, play

PROGRAM = """
from functools import cache, lru_cache
import torch.distributed as dist

def plain(function):
    return function

{keeps}
def common_length(longest):
    dist.all_reduce(longest)
    return longest

def pad(rows):
    longest = max(len(row) for row in rows)
    return common_length({asked})

def main():
    lengths = [3, 5, 8, 9, 12, 4, 7, 5, 6, 11, 13, 14][dist.get_rank() :: 3]
    for length in lengths:
        pad([[0] * length])
        dist.all_gather(length)
"""


@pytest.mark.parametrize("keeps", ["@lru_cache(maxsize=8)  # <-", "@cache  # <-"])
def test_the_decorator_is_the_line_where_its_argument_is_the_ranks_own(keeps: str) -> None:
    run = play(3, train=PROGRAM.format(keeps=keeps, asked="longest"))
    verdict = located(run, 1)
    assert place(verdict.location) == run.marked
    assert "common_length keeps what it answered" in verdict.sentence


@pytest.mark.parametrize(("keeps", "asked"), [("@plain", "longest"), ("@cache", "8")])
def test_a_function_that_keeps_nothing_or_is_asked_alike_is_not(keeps: str, asked: str) -> None:
    run = play(3, train=PROGRAM.format(keeps=keeps, asked=asked))
    run.calls[1] = run.calls[1][:3] + run.calls[1][4:]
    assert "keeps what it answered" not in located(run, 1).sentence


KEPT_BY_A_CALL = """
from functools import lru_cache
import torch.distributed as dist


class Weights:
    def __init__(self):
        self.of = {keeps}

    def _of(self, bucket):
        dist.all_gather(bucket)
        return bucket

    def asked(self, bucket):
        return self.{asked}(bucket)


def main():
    weights = Weights()
    {order}
    for bucket in order:
        weights.asked(bucket)
        dist.all_reduce(bucket)
"""
ORDERS = "order = [[0, 0, 0, 1, 1], [0, 0, 1, 0, 1], [0, 0, 0, 1, 1]][dist.get_rank()]"


def test_who_asks_for_what_is_new_to_it_alone_makes_the_call_inside() -> None:
    keeps = "lru_cache(maxsize=4)(self._of)  # <-"
    run = play(3, train=KEPT_BY_A_CALL.format(keeps=keeps, asked="of", order=ORDERS))
    verdict = located(run, 1)
    assert (place(verdict.location), verdict.cause) == (run.marked, "extra_collective")
    assert "on ranks 0,2 it need not have run" in verdict.sentence


@pytest.mark.parametrize(
    ("keeps", "asked"), [("lru_cache(maxsize=4)(self._of)", "_of"), ("(lambda given: given)(self._of)", "of")]
)
def test_what_is_called_itself_or_wrapped_in_something_else_keeps_nothing(keeps: str, asked: str) -> None:
    run = play(3, train=KEPT_BY_A_CALL.format(keeps=keeps, asked=asked, order=ORDERS))
    if asked == "of":
        run = play(
            3, train=KEPT_BY_A_CALL.format(keeps="lru_cache(maxsize=4)(self._of)", asked="of", order=ORDERS)
        )
        run.files["train.py"] = run.files["train.py"].replace("lru_cache(maxsize=4)(self._of)", keeps)
    else:
        run.calls[0] = [call for n, call in enumerate(run.calls[0]) if n not in (4, 6)]
        run.calls[2] = [*run.calls[0]]
    assert "keeps what it answered" not in located(run, 1).sentence
