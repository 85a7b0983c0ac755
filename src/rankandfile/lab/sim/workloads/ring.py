"""Context parallel: ring attention, keys and values passed round by batched sends."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.lab.sim.layout import Layout
from rankandfile.lab.sim.ops import Batch, Compute, Op, Sync, Transfer, all_reduce
from rankandfile.lab.sim.workloads.common import Size, norm, training


def program(rank: int, layout: Layout, size: Size) -> Iterator[Op]:
    ring = layout.group("cp", rank)
    me = layout.inside(ring, rank)
    following, previous = (me + 1) % ring.size, (me - 1) % ring.size
    shape = (2, 256, size.width)
    shift = Batch(
        (
            Transfer("send", "cp", following, shape, "ring_send"),
            Transfer("recv", "cp", previous, shape, "ring_recv"),
        ),
        "ring_close",
    )

    def step(_number: int) -> Iterator[Op]:
        for _ in range(size.layers):
            for _ in range(ring.size - 1):
                yield Compute(0.001)
                yield shift
        yield Compute(0.02)
        for bucket in range(size.buckets):
            yield all_reduce("dp", (bucket + 1) * size.width * 256, "dp_reduce")
        yield from norm()
        yield Sync("loss_item")

    return training(rank, layout, size, step)
