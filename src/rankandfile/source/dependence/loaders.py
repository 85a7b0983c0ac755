"""Data loaders: whose batches a rank sees, and how many."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from msgspec.structs import replace

from rankandfile.source.program.names import method

from .frame import Frame
from .syntax import LEN, Path, argument, content, text
from .value import UNIFORM, UNKNOWN, Link, Value, join

if TYPE_CHECKING:
    from .evaluate import Evaluator

LOADERS = {"torch.utils.data.DataLoader", "torchdata.stateful_dataloader.StatefulDataLoader"}
AS_LONG_AS_ITS_FIRST = "torch.utils.data.TensorDataset"
_EVEN = {"torch.utils.data.DistributedSampler", "torch.utils.data.distributed.DistributedSampler"}


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
        # Where the program says itself how long it is, what else it is made of does not matter.
        told = dataset is not None and (
            any(method(cls, "__len__") is not None for cls in ev.objects.classes(dataset, frame))
            or AS_LONG_AS_ITS_FIRST in ev.objects.externals(dataset, frame)
        )
        given = [each for each in content(e) if not (told and each is dataset)]
        length = join([ev.all(given, frame), *items])
        words = f"is this rank's own shard, as long as it happens to be ({file}:{e.lineno})"
        return _own(length, "shard_length", Link(file, e.lineno, text(e, 60), words, kind="own shard"))
    link = _holder(file, e)
    if even:
        return Value("varying", source="local_data", chain=(link,))
    value = join([UNKNOWN, ev.all(content(e), frame)])
    return _own(value, "local_data", link)


def prepared(ev: Evaluator, e: ast.Call, frame: Frame, path: Path) -> Value:
    """What a framework made of the model, optimizer and loaders that it was given, in their order: of a loader each
    rank has its own share, of equal length; anything else stays what it was."""
    given = e.args
    if len(given) > 1 and path and path[0][0] == "item" and isinstance(path[0][1], int):
        given, path = given[path[0][1] :][:1], path[1:]
    if not path:
        return UNIFORM
    if given and any(name in LOADERS for name in ev.objects.externals(given[0], frame)):
        file = frame.function.module.path
        link = _holder(file, e)
        return UNIFORM if path[0] == LEN else Value("varying", source="local_data", chain=(link,))
    return ev.all(given[:1], frame, path)


def _holder(file: str, e: ast.Call) -> Link:
    words = f"holds this rank's batches only ({file}:{e.lineno})"
    return Link(file, e.lineno, text(e, 60), words, kind="own batches")


def _own(value: Value, source: str, link: Link) -> Value:
    if not value.differs:
        return value
    return replace(value, source=source, chain=(link, *value.chain))
