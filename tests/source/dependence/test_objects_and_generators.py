"""Values that go by way of objects, generators and the functions that make them."""

from __future__ import annotations

import pytest
from support.source.program_texts import reason

PROGRAM = """
import os
from dataclasses import dataclass

import torch
import torch.distributed as dist


class Meter:
    def __init__(self, value):
        self.value = value


@dataclass
class Config:
    steps: int
    rank: int = 0


def objects():
    local, fixed = Meter(dist.get_rank()), Meter(7)
    if fixed.value > 3:  # same: the other object
        dist.barrier()
    if local.value > 3:  # rank_api: the object
        dist.barrier()


def fields():
    one, other = Config(steps=3), Config(steps=dist.get_rank())
    if one.steps > 1:  # same: the other dataclass
        dist.barrier()
    if other.steps > 1:  # rank_api: the dataclass
        dist.barrier()


def changed():
    meter = Meter(1)
    meter.value = dist.get_rank()
    if meter.value:  # rank_api: set from outside
        dist.barrier()


def numbers(n, step):
    for i in range(n):
        yield i * step


def generators():
    for i in numbers(3, dist.get_rank()):
        if i > 3:  # rank_api: what is yielded
            dist.barrier()
    for i in numbers(3, 2):
        if i > 1:  # same: what is yielded
            dist.barrier()


def some(n):
    for i in range(n):
        yield i


def not_all(n):
    for i in range(n):
        if i != dist.get_rank():
            yield i


def as_many_as():
    for i in some(dist.get_rank()):
        if i > 1:  # same: where it ends
            dist.barrier()
    for i in not_all(3):
        if i > 1:  # rank_api: which are left out
            dist.barrier()


def passed_on(items):
    yield from items


def from_another():
    for x in passed_on([dist.get_rank()]):
        if x:  # rank_api: yield from
            dist.barrier()


def running_total():
    total = 0
    while True:
        total += yield total


def sent():
    totals = running_total()
    next(totals)
    if totals.send(dist.get_rank()) > 3:  # rank_api: sent into
        dist.barrier()


def found(path):
    if not os.path.exists(path):
        return False
    return True


def early_return():
    if found("a"):  # file_system: early return
        dist.barrier()


def gradients(loss, parameters):
    loss.backward()
    for p in parameters:
        if p.grad is None:  # local_data: gradient
            continue
        dist.all_reduce(p.grad)
        if p.grad.norm() > 3:  # same: reduced gradient
            dist.barrier()


class Board:
    def __init__(self):
        self._shown, self.changes, self.looks = 0, 0, 0

    @property
    def shown(self):
        return self._shown

    @shown.setter
    def shown(self, value):
        self._shown = value
        self.changes += 1

    def look(self):
        self.looks += 1


def tidied(board, found):
    if os.path.exists(found):
        board.shown = 3


def counted():
    board = Board()
    tidied(board, "found")
    board.look()
    if board.changes != 1:  # file_system: how often a property was set
        dist.barrier()
    if board.looks != 1:  # same: called by all
        dist.barrier()


class Scaled(torch.autograd.Function):
    @staticmethod
    def backward(ctx, grad):
        if grad.abs().max().item() > 0:  # local_data: handed over by autograd
            dist.all_reduce(grad)
        return grad
"""
EXPECTED = [line.split("  # ")[1] for line in PROGRAM.splitlines() if "  # " in line]


@pytest.mark.parametrize("expected", EXPECTED)
def test_what_decides_is_found_and_nothing_else_is_blamed(expected: str) -> None:
    kind, _, _ = expected.partition(":")
    found = reason(f"# {expected}", a=PROGRAM)
    if kind == "same":
        assert found.level == "uniform" and not found.sentence
    else:
        assert (found.level, found.source) == ("varying", kind)
        assert "a.py:0" not in found.sentence and "(a.py:" in found.sentence
