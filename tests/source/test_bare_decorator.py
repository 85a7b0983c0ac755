"""What tries a function again: its decorator where that says how, the handler in the wrapper where it is bare."""

from __future__ import annotations

import pytest
from support.source.toy_runs import located, place, play, remarked

PROGRAM = """
import functools
import torch.distributed as dist


class Full(MemoryError):
    pass


def {head}


@{above}  # decorator
def accumulate(rows):
    dist.all_reduce(rows)
    if len(rows) > 3:
        raise Full
    return rows


def main():
    for n in range(6):
        accumulate([1] * (5 if n == 3 and dist.get_rank() == 1 else 2))
        dist.all_gather(n)
"""
BARE = """elastic(method):
    @functools.wraps(method)
    def wrapper(rows):
        while True:
            try:
                return method(rows)
            except Full:  # handler
                rows = rows[:2]
    return wrapper
"""
TOLD = """elastic(error):
    def around(method):
        @functools.wraps(method)
        def wrapper(rows):
            while True:
                try:
                    return method(rows)
                except error:  # handler
                    rows = rows[:2]
        return wrapper
    return around
"""


@pytest.mark.parametrize(
    ("head", "above", "line"), [(BARE, "elastic", "handler"), (TOLD, "elastic(Full)", "decorator")]
)
def test_where_it_is_said_upon_what_a_function_is_tried_again(head: str, above: str, line: str) -> None:
    run = play(3, train=PROGRAM.format(head=head, above=above))
    verdict = located(run, 1)
    assert place(verdict.location) == ("train.py", remarked(run.files["train.py"], line))
    assert verdict.cause == "extra_collective"
    assert "Its decorator ran accumulate once more on rank 1" in verdict.sentence
