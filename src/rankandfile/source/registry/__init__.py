"""What the frameworks' names mean: collectives, implied ones too, rank APIs, and what makes values agree."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rankandfile.source.program import Function

__all__ = ["implicit"]


def implicit(call: ast.Call | None, function: Function | None, frames: Sequence[str] = ()) -> str | None:
    """The collective that a call implies, in words ("DDP reduces gradients here"); None if none is known.

    `call` stands in `function`; `frames` are the names of the functions below it in a stack, outermost first, where a
    stack was seen. Either is enough.
    """
    if (
        call is not None
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "backward"
        and function
    ):
        return "DDP reduces gradients here" if "DistributedDataParallel" in function.module.text else None
    return "DDP reduces gradients here" if "_allreduce_bucket" in frames else None
