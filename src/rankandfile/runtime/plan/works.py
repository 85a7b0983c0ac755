"""Whose work a rank waits for: torch's own methods of process groups are wrapped, and what they return is remembered.

A wait then tells its call exactly, whatever else is under way. What is made in C++ (functional collectives, DDP's
buckets) does not come by here, and waits for it say nothing.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from rankandfile.runtime.recorder import current

_REDUCING = ("allreduce", "allreduce_coalesced", "reduce", "reduce_scatter", "_reduce_scatter_base")
_METHODS = (
    *_REDUCING, "broadcast", "allgather", "_allgather_base", "allgather_coalesced", "alltoall", "alltoall_base",
    "gather", "scatter", "barrier", "send", "recv", "recv_anysource",
)  # fmt: skip


def follow() -> None:
    """Once per process."""
    import torch.distributed as dist

    for name in _METHODS:
        method = getattr(dist.ProcessGroup, name, None)
        if method is not None:
            setattr(dist.ProcessGroup, name, _remembering(method, name in _REDUCING))
    dist.Work.wait = _telling(dist.Work.wait)


def _remembering(method: Callable[..., Any], reduces: bool) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        gate = current.now.gate
        if gate is None or threading.get_ident() != gate.main:
            return method(self, *arguments, **named)
        gate.issued = None
        if reduces and arguments:
            options = getattr(arguments[-1], "reduceOp", None)
            gate.reduction = None if options is None else int(options.op)
        try:
            work = method(self, *arguments, **named)
        finally:
            gate.reduction = None
        if work is not None and gate.issued is not None:
            gate.works[work] = gate.issued
        return work

    return call


def _telling(wait: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(wait)
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        gate = current.now.gate
        if gate is None:
            return wait(self, *arguments, **named)
        gate.waits(self)
        try:
            return wait(self, *arguments, **named)
        except RuntimeError as error:
            gate.failed(error)
            raise
        finally:
            gate.waited()

    return call
