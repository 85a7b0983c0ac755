"""Every construct that can send ranks different ways: the programs run, and the line that decides is named."""

from __future__ import annotations

import pytest
from support.source.toy_runs import located, place, play

HEAD = """
import contextlib
import functools
import torch.distributed as dist


def main():
    for n in range(4):
        step(n)
    dist.barrier()
"""

BOARD = """
class Board:
    def __init__(self, n):
        self.n = n

    @property
    def total(self):
        return dist.all_reduce(self.n)
"""

BODIES = {
    "match": """
def step(n):
    match dist.get_rank() if n == 2 else 0:
        case 1:  # <-
            pass
        case _:
            dist.all_reduce(n)
    dist.broadcast(n, src=0)
""",
    "with": """
@contextlib.contextmanager
def timed(n):
    yield n

def step(n):
    with timed(n) as m:
        if dist.get_rank() == 1 and m == 2:  # <-
            return
        dist.all_reduce(m)
""",
    "nested function": """
def step(n):
    def reduce(m):
        if dist.get_rank() == 1 and m == 2:  # <-
            return
        dist.all_reduce(m)
    dist.broadcast(n, src=0)
    reduce(n)
""",
    "decorated function": """
def logged(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        return function(*arguments)
    return wrapper

@logged
def step(n):
    dist.broadcast(n, src=0)
    if dist.get_rank() == 1 and n == 2:  # <-
        return
    dist.all_reduce(n)
""",
    "generator": """
def parts(n):
    yield 0
    if dist.get_rank() == 1 and n == 2:  # <-
        return
    dist.all_reduce(n)
    yield 1

def step(n):
    for part in parts(n):
        dist.broadcast(part, src=0)
""",
    "property in a conditional expression": BOARD
    + """
def step(n):
    dist.broadcast(n, src=0)
    board = Board(n)
    return board.total if dist.get_rank() != 1 or n != 2 else None  # <-
""",
    "property behind and": BOARD
    + """
def step(n):
    dist.broadcast(n, src=0)
    board = Board(n)
    return (dist.get_rank() != 1 or n != 2) and board.total  # <-
""",
    "format of an object": """
class Board:
    def __format__(self, how):
        if how == "all":
            dist.all_reduce(how)
        return how

def step(n):
    dist.broadcast(n, src=0)
    board = Board()
    return f"{board:all}" if dist.get_rank() != 1 or n != 2 else None  # <-
""",
    "conditional expression": """
def step(n):
    dist.broadcast(n, src=0)
    x = dist.all_reduce(n) if dist.get_rank() != 1 or n != 2 else None  # <-
    return x
""",
    "short circuit": """
def step(n):
    dist.broadcast(n, src=0)
    (n == 2 and dist.get_rank() == 1) or dist.all_reduce(n)  # <-
""",
    "for-else": """
def step(n):
    dist.broadcast(n, src=0)
    for part in range(3):
        if dist.get_rank() == 1 and n == 2:  # <-
            break
    else:
        dist.all_reduce(n)
""",
    "continue": """
def step(n):
    for part in range(2):
        dist.broadcast(n, src=0)
        if dist.get_rank() == 1 and n == 2:  # <-
            continue
        dist.all_reduce(n)
""",
    "raise and handler": """
def check(n):
    if dist.get_rank() == 1 and n == 2:
        raise ValueError(n)

def step(n):
    dist.broadcast(n, src=0)
    try:
        check(n)
        dist.all_reduce(n)
    except ValueError:  # <-
        pass
""",
    "finally": """
def step(n):
    try:
        dist.broadcast(n, src=0)
        if dist.get_rank() == 1 and n == 2:  # <-
            return
        dist.all_reduce(n)
    finally:
        dist.all_gather(n)
""",
    "early return in a callee": """
def usable(n):
    if dist.get_rank() == 1 and n == 2:
        return False
    return True

def step(n):
    dist.broadcast(n, src=0)
    if usable(n):  # <-
        dist.all_reduce(n)
""",
    "comprehension": """
def step(n):
    dist.broadcast(n, src=0)
    return [dist.all_reduce(m) for m in range(2) if dist.get_rank() != 1 or n != 2]  # <-
""",
}


@pytest.mark.parametrize("construct", BODIES)
def test_the_line_that_decides_is_named(construct: str) -> None:
    run = play(train=HEAD + BODIES[construct])
    verdict = located(run, 1)
    assert place(verdict.location) == run.marked, verdict.sentence
    assert verdict.location is not None and verdict.location.why_it_can_differ


RAISES = """
import torch.distributed as dist


class Bad(SystemExit):
    pass


def main():
    try:
        for n in range(4):
            step(n)
    {around}:
        dist.barrier()


def step(n):
    dist.broadcast(n, src=0)
    if dist.get_rank() == 1 and n == 2:  # <-
        raise Bad(n)
    dist.all_reduce(n)
"""


def test_an_exception_that_somebody_catches() -> None:
    verdict = located(play(train=RAISES.format(around="except Bad")), 1)
    assert verdict.cause == "swallowed_exception"
