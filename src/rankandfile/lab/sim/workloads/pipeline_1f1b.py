"""Pipelines: one forward, one backward with batched exchanges; or all forwards, then all backwards, one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rankandfile.lab.sim.layout import Layout
from rankandfile.lab.sim.ops import Batch, Compute, Op, Shape, Sync, Transfer, all_reduce
from rankandfile.lab.sim.workloads.common import Size, norm, training

Step = Callable[[str], Iterator[Op]]
"""What a stage does for a micro-batch, in a phase of the schedule: warm, steady or cool."""


def exchange(what: str, stage: int, shape: Shape, sides: tuple[str, ...], *, batched: bool) -> Iterator[Op]:
    """`sides`: among send_next, recv_next, send_prev, recv_prev. `what` names the place in the schedule."""
    transfers = tuple(
        Transfer(
            side[:4], "pp", stage + (1 if side.endswith("next") else -1), shape,
            f"{what}_{side[:4]}" if batched else f"{what}_{side}",
        )
        for side in sides
    )  # fmt: skip
    if batched:
        yield Batch(transfers, f"{what}_close")
    else:
        yield from transfers


def one_forward_one_backward(
    stage: int, stages: int, micro_batches: int, shape: Shape, forward: Step, backward: Step
) -> Iterator[Op]:
    first, last = stage == 0, stage == stages - 1
    warmup = min(stages - stage - 1, micro_batches)

    def swap(what: str, *sides: str) -> Iterator[Op]:
        open_sides = tuple(s for s in sides if not (first if s.endswith("prev") else last))
        if open_sides:
            yield from exchange(what, stage, shape, open_sides, batched=True)

    for _ in range(warmup):
        yield from swap("warm_recv", "recv_prev")
        yield from forward("warm")
        yield from swap("warm_send", "send_next")
    steady = micro_batches - warmup
    if steady:
        yield from swap("steady_recv", "recv_prev")
    for i in range(steady):
        yield from forward("steady")
        yield from swap("steady_exchange", "send_next", "recv_next")
        yield from backward("steady")
        yield from swap("steady_return", "send_prev", *(("recv_prev",) if i < steady - 1 else ()))
    for _ in range(warmup):
        yield from swap("cool_recv", "recv_next")
        yield from backward("cool")
        yield from swap("cool_send", "send_prev")


def all_forward_all_backward(
    stage: int, stages: int, micro_batches: int, shape: Shape, forward: Step, backward: Step
) -> Iterator[Op]:
    """Plain sends and receives, in an order that cannot lock up."""
    for what_in, side_in, step, what_out, side_out in (
        ("warm_recv", "recv_prev", forward, "warm_send", "send_next"),
        ("cool_recv", "recv_next", backward, "cool_send", "send_prev"),
    ):
        for _ in range(micro_batches):
            for what, side, act in ((what_in, side_in, step), (what_out, side_out, None)):
                edge = stage == 0 if side.endswith("prev") else stage == stages - 1
                if not edge:
                    yield from exchange(what, stage, shape, (side,), batched=False)
                if act is not None:
                    yield from act(what_in.partition("_")[0])


def _compute(seconds: float) -> Step:
    def step(_phase: str) -> Iterator[Op]:
        yield Compute(seconds)

    return step


def program(
    rank: int, layout: Layout, size: Size, *, batched: bool = True, tied: bool = False
) -> Iterator[Op]:
    """`tied`: a collective on the pipeline's own group after each schedule. Batches take collective numbers, and
    stages make different numbers of batches, so its members number that one collective differently."""
    group = layout.group("pp", rank)
    stage, stages = layout.inside(group, rank), group.size
    schedule = one_forward_one_backward if batched else all_forward_all_backward

    def step(_number: int) -> Iterator[Op]:
        shape = (1, 512, size.width)
        yield from schedule(stage, stages, size.micro_batches, shape, _compute(0.004), _compute(0.008))
        if tied:
            yield all_reduce("pp", size.width * 64, "tied_reduce", "BFloat16")
        yield from norm()
        yield Sync("loss_item")

    return training(rank, layout, size, step)


def plain(rank: int, layout: Layout, size: Size) -> Iterator[Op]:
    return program(rank, layout, size, batched=False)


def tied(rank: int, layout: Layout, size: Size) -> Iterator[Op]:
    return program(rank, layout, size, tied=True)
