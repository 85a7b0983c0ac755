"""Mixture of experts: tokens travel to their experts and back by all-to-all, unevenly."""

from __future__ import annotations

import random
from collections.abc import Iterator

from rankandfile.lab.sim.layout import Group, Layout
from rankandfile.lab.sim.ops import Call, Compute, Op, Sync, all_reduce, all_to_all
from rankandfile.lab.sim.workloads.common import Size, norm, training


def program(rank: int, layout: Layout, size: Size) -> Iterator[Op]:
    group = layout.group("ep", rank)
    me = layout.inside(group, rank)

    def step(number: int) -> Iterator[Op]:
        for layer in range(size.layers):
            out, back = routing(group, me, number, layer)
            yield Call("all_to_all", "ep", ((group.size,),), ((group.size,),), "moe_counts", "Long")
            yield Sync("moe_tolist")
            yield all_to_all("ep", out, back, size.width, "moe_dispatch")
            yield Compute(0.004)
            yield all_to_all("ep", back, out, size.width, "moe_combine")
        for layer in reversed(range(size.layers)):
            out, back = routing(group, me, number, layer)
            yield all_to_all("ep", out, back, size.width, "moe_backward")
            yield Compute(0.008)
            yield all_to_all("ep", back, out, size.width, "moe_backward")
        for bucket in range(size.buckets):
            yield all_reduce("dp", (bucket + 1) * size.width * 256, "dp_reduce")
        yield from norm()
        yield Sync("loss_item")

    return training(rank, layout, size, step)


def routing(group: Group, me: int, step: int, layer: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Rows this member sends to, and gets from, each member: drawn alike on all of them."""
    draw = random.Random(group.index * 1_000_003 + step * 1009 + layer)
    table = [[draw.randrange(16, 240) for _ in group.ranks] for _ in group.ranks]
    return tuple(table[me]), tuple(row[me] for row in table)
