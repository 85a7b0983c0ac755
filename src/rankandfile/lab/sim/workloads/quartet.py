"""Four ranks in a square of four two-rank groups: each rank reduces on both of its own."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.lab.sim.layout import Layout, named
from rankandfile.lab.sim.ops import Compute, Op, Sync, all_reduce
from rankandfile.lab.sim.workloads.common import Size, norm, training

_SIDES = (("north", (0, 1)), ("east", (1, 2)), ("south", (2, 3)), ("west", (0, 3)))


def square(_dims: dict[str, int]) -> Layout:
    return named(4, _SIDES, desc="side_{}")


def program(rank: int, layout: Layout, size: Size, *, at_once: bool = False) -> Iterator[Op]:
    """`at_once`: both reductions are enqueued before the host looks at a value, so a wrong order locks up the
    devices while every host has issued everything."""

    def step(_number: int) -> Iterator[Op]:
        yield Compute(0.01)
        for side, members in _SIDES:
            if rank in members:
                yield all_reduce(side, 64, "split_reduce")
                if not at_once:
                    yield Sync("split_item")
        yield Sync("split_items")
        yield from norm()

    return training(rank, layout, size, step)


def enqueued_at_once(rank: int, layout: Layout, size: Size) -> Iterator[Op]:
    return program(rank, layout, size, at_once=True)
