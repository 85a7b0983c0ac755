"""Data loaders: whose batches a rank sees, and how many."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from .frame import Frame
from .syntax import LEN, Path, argument, arguments, text
from .value import UNIFORM, UNKNOWN, Link, Value, join

if TYPE_CHECKING:
    from .evaluate import Evaluator

LOADERS = {"torch.utils.data.DataLoader", "torchdata.stateful_dataloader.StatefulDataLoader"}
_EVEN = {"torch.utils.data.DistributedSampler", "torch.utils.data.distributed.DistributedSampler"}
_PREPARE = {
    "accelerate.Accelerator.prepare",
    "accelerate.Accelerator.prepare_data_loader",
    "lightning.fabric.Fabric.setup_dataloaders",
    "lightning.Fabric.setup_dataloaders",
    "lightning_fabric.Fabric.setup_dataloaders",
}


def prepared(ev: Evaluator, name: str, e: ast.Call, frame: Frame, path: Path) -> Value | None:
    """Loaders as a framework hands them back: each rank gets its own share of the batches. None for anything else."""
    kind, number = path[0] if path else ("", None)
    several = kind == "item" and isinstance(number, int) and len(e.args) > 1
    if name not in _PREPARE or (len(e.args) > 1 and not several):
        return None
    given = argument(e, number if several and isinstance(number, int) else 0)
    rest = path[1:] if several else path
    if given is None or not LOADERS & set(ev.objects.externals(given, frame)):
        return None
    if rest[:1] == (LEN,):
        return ev.value(given, frame, rest)
    file = frame.function.module.path
    link = Link(file, e.lineno, text(given, 60), f"holds this rank's batches only ({file}:{e.lineno})")
    return Value("varying", source="local_data", chain=(link,))


def loader(ev: Evaluator, e: ast.Call, frame: Frame, path: Path) -> Value:
    """Its batches are this rank's own if the dataset or the sampler is; its length likewise."""
    sampler = argument(e, "sampler", "batch_sampler")
    even = sampler is not None and any(name in _EVEN for name in ev.objects.externals(sampler, frame))
    file = frame.function.module.path
    if path and path[0] == LEN:
        if even:
            return UNIFORM
        dataset = argument(e, 0, "dataset")
        items = [ev.value(dataset, frame, path)] if dataset is not None else []
        length = join([ev.all(arguments(e), frame), *items])
        words = f"is this rank's own shard, as long as it happens to be ({file}:{e.lineno})"
        return _own(length, "shard_length", Link(file, e.lineno, text(e, 60), words))
    link = Link(file, e.lineno, text(e, 60), f"holds this rank's batches only ({file}:{e.lineno})")
    if even:
        return Value("varying", source="local_data", chain=(link,))
    value = join([UNKNOWN, ev.all(arguments(e), frame)])
    return _own(value, "local_data", link)


def _own(value: Value, source: str, link: Link) -> Value:
    if not value.differs:
        return value
    return replace(value, source=source, chain=(link, *value.chain))
