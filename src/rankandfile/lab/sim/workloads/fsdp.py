"""Fully sharded: parameters are gathered per unit, gradients scattered; with replicas over a second dimension."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.lab.sim.layout import Layout
from rankandfile.lab.sim.ops import Compute, Op, Sync, Wait, all_gather, all_reduce, reduce_scatter
from rankandfile.lab.sim.workloads.common import Size, norm, training


def program(rank: int, layout: Layout, size: Size) -> Iterator[Op]:
    shard = layout.group("shard", rank).size
    replicas = any(group.role == "replicate" for group in layout.groups)

    def step(_number: int) -> Iterator[Op]:
        for layer in range(size.layers):
            yield all_gather("shard", shard, _unit(size, layer), "unit_gather")
            yield Compute(0.004)
        for layer in reversed(range(size.layers)):
            yield all_gather("shard", shard, _unit(size, layer), "unit_regather")
            yield Compute(0.008)
            scatter = reduce_scatter("shard", shard, _unit(size, layer), "unit_scatter")
            yield scatter._replace(async_op=True)
            if replicas:
                yield all_reduce("replicate", _unit(size, layer), "unit_replicate", "BFloat16", async_op=True)
        yield Wait()
        yield from norm()
        yield Compute(0.003)
        yield Sync("loss_item")

    return training(rank, layout, size, step)


def _unit(size: Size, layer: int) -> int:
    """The first unit holds the embedding and is larger."""
    return size.width * (96 if layer == 0 else 64)
