"""Data parallel: buckets are reduced while the backward pass still runs."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.lab.sim.layout import Layout
from rankandfile.lab.sim.ops import Compute, Op, Sync, Wait, all_reduce
from rankandfile.lab.sim.workloads.common import Size, norm, training


def program(rank: int, layout: Layout, size: Size) -> Iterator[Op]:
    def step(_number: int) -> Iterator[Op]:
        yield Compute(0.02)
        for bucket in range(size.buckets):
            yield Compute(0.008)
            yield all_reduce("dp", (bucket + 1) * size.width * 512, "ddp_bucket", async_op=True)
        yield Wait()
        yield from norm()
        yield Compute(0.004)
        yield Sync("loss_item")

    return training(rank, layout, size, step)
