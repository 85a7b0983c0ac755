"""What every training program does around its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rankandfile.lab.sim.layout import Layout
from rankandfile.lab.sim.ops import Call, Leave, Op, Say, Sync, Work, all_reduce, barrier, broadcast


@dataclass(frozen=True)
class Size:
    """How much of everything a program does."""

    steps: int = 12
    layers: int = 4
    micro_batches: int = 4
    buckets: int = 3
    log_every: int = 5
    width: int = 4096


def prepare(rank: int) -> Iterator[Op]:
    """Rank 0 builds the index while the others wait; then the model is made alike everywhere."""
    yield Say("building index" if rank == 0 else "waiting for index")
    yield Work(2.0 if rank == 0 else 0.4, "build_index")
    yield barrier("prepare_barrier")
    for i in range(6):
        yield broadcast("world", 1 << (12 + i), "init_broadcast", dtype="BFloat16")


def load(step: int, rank: int) -> Iterator[Op]:
    """The next batch: some batches take longer than others, on some ranks."""
    yield Work(0.002 + 0.003 * ((step * 31 + rank * 17) % 7) / 7, "read_batch")


def norm() -> Iterator[Op]:
    """The global gradient norm, whose value the host needs."""
    yield all_reduce("world", 1, "norm_reduce")
    yield Sync("norm_item")


def log(step: int, size: Size, rank: int) -> Iterator[Op]:
    if rank == 0 or step % size.log_every == 0:
        yield Say(f"step {step} loss {2.5 / (1 + 0.05 * step):.4f}")
    if step % size.log_every == 0:
        yield all_reduce("world", 8, "loss_reduce")
        yield Sync("metric_item")


def training(rank: int, layout: Layout, size: Size, step: Callable[[int], Iterator[Op]]) -> Iterator[Op]:
    """The whole program: `step` is what it does with a batch, from the forward pass to the optimizer."""
    yield from prepare(rank)
    for number in range(1, size.steps + 1):
        yield from load(number, rank)
        yield from step(number)
        yield from log(number, size, rank)
    yield from wind_up(rank, layout)


def wind_up(rank: int, layout: Layout) -> Iterator[Op]:
    """Evaluation, checkpoint, the end."""
    members = layout.world_size
    # The recorder sees the flattened output of a gather into a list.
    yield Call("all_gather", "world", ((2048,),), ((members, 2048),), "predictions_gather")
    yield Sync("predictions_cpu")
    yield broadcast("world", 16, "best_broadcast")
    yield Work(1.5 if rank == 0 else 0.001, "save")
    yield barrier("checkpoint_barrier")
    yield Sync("final_sync", everything=True)
    yield Say("training complete")
    yield Work(0.3, "exit")
    yield Leave("finished", "destroy")
