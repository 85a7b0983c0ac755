"""Tensor x pipeline x data parallel, 1F1B, with the norm over the world; optionally tied embeddings."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.lab.sim.layout import Layout
from rankandfile.lab.sim.ops import Compute, Op, Sync, all_gather, all_reduce
from rankandfile.lab.sim.workloads.common import Size, norm, training
from rankandfile.lab.sim.workloads.pipeline_1f1b import one_forward_one_backward


def program(rank: int, layout: Layout, size: Size) -> Iterator[Op]:
    pipe = layout.group("pp", rank)
    stage = layout.inside(pipe, rank)
    activations = 512 * size.width
    dp = layout.group("dp", rank).size

    def forward(phase: str) -> Iterator[Op]:
        for _ in range(size.layers):
            yield Compute(0.002)
            yield all_reduce("tp", activations, f"stage_attention@{phase}", "BFloat16")
            yield Compute(0.002)
            yield all_reduce("tp", activations, f"stage_mlp@{phase}", "BFloat16")

    def backward(phase: str) -> Iterator[Op]:
        for _ in range(2 * size.layers):
            yield Compute(0.004)
            yield all_reduce("tp", activations, f"stage_backward@{phase}", "BFloat16")

    def step(_number: int) -> Iterator[Op]:
        if pipe.size > 1:
            shape = (512, 1, size.width)
            yield from one_forward_one_backward(
                stage, pipe.size, size.micro_batches, shape, forward, backward
            )
        else:
            for _ in range(size.micro_batches):
                yield from forward("steady")
                yield from backward("steady")
        for bucket in range(size.buckets):
            yield all_reduce("dp", (bucket + 1) * size.width * 256, "dp_reduce")
        yield from norm()
        if dp > 1:
            yield all_gather("dp", dp, size.width * 128, "param_gather")
        yield Sync("loss_item")

    return training(rank, layout, size, step)
