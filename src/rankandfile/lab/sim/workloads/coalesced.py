"""Coalesced gathers and scatters, and a gather of tensors of different sizes."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.lab.sim.layout import Layout
from rankandfile.lab.sim.ops import UNEVEN_GATHER, Call, Compute, Op, Sync, all_gather, reduce_scatter
from rankandfile.lab.sim.workloads.common import Size, norm, training


def program(rank: int, layout: Layout, size: Size) -> Iterator[Op]:
    group = layout.group("dp", rank)
    me = layout.inside(group, rank)

    def step(number: int) -> Iterator[Op]:
        yield all_gather("dp", group.size, size.width * 64, "unit_gather")._replace(pieces=size.layers)
        yield Compute(0.01)
        yield reduce_scatter("dp", group.size, size.width * 64, "unit_scatter")._replace(pieces=size.layers)
        kept = tuple((8 + (7 * member + number) % 5,) for member in range(group.size))
        yield Call(UNEVEN_GATHER, "dp", (kept[me],), kept, "predictions_gather", pieces=group.size)
        yield Sync("predictions_cpu")
        yield from norm()

    return training(rank, layout, size, step)
