"""Where each c10d operator keeps its group, tensors, root and the rest, read off its schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rankandfile.wire.layout import OPERATORS

_INPUTS = ("input", "input_tensor", "input_tensors", "input_list", "inputs", "tensors", "tensor")
_OUTPUTS = ("output", "output_tensor", "output_tensors", "output_lists", "outputs")
_PEERS = ("root_rank", "dst", "src")
_SPLITS = ("input_split_sizes", "output_split_sizes")

#: Operators whose members may give different sizes: these stay out of the rolling hash.
_FREE_SIZES = {
    "allgather_",
    "alltoall_",
    "alltoall_base_",
    "gather_",
    "scatter_",
    "barrier",
    "monitored_barrier_",
}


@dataclass(frozen=True)
class Operator:
    """Positions are those of the arguments; -1 where there is none. native.cpp takes the fields in this order."""

    name: str
    number: int
    group: int
    inputs: int
    outputs: int
    peer: int
    sync: int
    reduce_op: int
    splits: tuple[int, ...]
    p2p: bool
    free_sizes: bool
    tag: int


def operators() -> list[tuple[Operator, Any]]:
    """Those that this torch has, each with its overload."""
    import torch

    found = []
    for number, name in enumerate(OPERATORS):
        overload = getattr(getattr(torch.ops.c10d, name, None), "default", None) if name else None
        if overload is not None:
            found.append((_operator(name, number, overload._schema), overload))
    return found


def _operator(name: str, number: int, schema: Any) -> Operator:
    names = [argument.name for argument in schema.arguments]

    def at(*wanted: str) -> int:
        return next((names.index(one) for one in wanted if one in names), -1)

    inputs, outputs = at(*_INPUTS), at(*_OUTPUTS)
    return Operator(
        name=name,
        number=number,
        group=at("process_group"),
        inputs=inputs,
        outputs=outputs if outputs >= 0 else inputs,
        peer=at(*_PEERS),
        sync=at("async_op"),
        splits=tuple(names.index(one) for one in _SPLITS if one in names),
        reduce_op=at("reduce_op"),
        p2p=name in ("send", "recv_", "recv_any_source_"),
        free_sizes=name in _FREE_SIZES,
        tag=at("tag"),
    )
