"""An exception that `asyncio.gather` handed back as a value: the rank went on without a call that a coroutine makes."""

from __future__ import annotations

import pytest
from support.source.toy_runs import located, place, play, remarked

SERVICE = """
import asyncio
import torch.distributed as dist


def total(value):
    dist.all_reduce(value)


async def price(row):
    if row == 5 and dist.get_rank() == 2:
        raise KeyError(row)
    return row


async def score(row):
    cost = await price(row)
    {asked}total(cost)


async def wave(row):
    {put_aside}
    await asyncio.gather({given}, return_exceptions={kept})  # <-


async def serve():
    for row in range(9):
        try:
            await wave(row)
        except KeyError:  # caught
            pass
        dist.broadcast(row, src=0)


def main():
    asyncio.run(serve())
"""


@pytest.mark.parametrize(
    ("given", "put_aside"), [("score(row)", "pass"), ("*jobs.values()", 'jobs = {"score": score(row)}')]
)
def test_the_line_at_which_it_came_back_as_a_value_is_named(given: str, put_aside: str) -> None:
    run = play(train=SERVICE.format(given=given, put_aside=put_aside, kept="True", asked=""))
    verdict = located(run, 2)
    assert place(verdict.location) == ("train.py", remarked(run.files["train.py"], "<-"))
    assert verdict.cause == "swallowed_exception"


@pytest.mark.parametrize(("kept", "asked"), [("False", ""), ("True", "if cost != 5: ")])
def test_not_where_it_is_raised_again_or_a_test_may_have_left_the_call_out(kept: str, asked: str) -> None:
    run = play(train=SERVICE.format(given="score(row)", put_aside="pass", kept=kept, asked=asked))
    assert place(located(run, 2).location) != ("train.py", remarked(run.files["train.py"], "<-"))
