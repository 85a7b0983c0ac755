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


def follow() -> None:
    """Once per process."""
    import torch.distributed as dist

    for name in dir(dist.ProcessGroup):
        method = getattr(dist.ProcessGroup, name)
        if name[:2] != "__" and _gives_work(method):
            setattr(dist.ProcessGroup, name, _remembering(method, "reduce" in name))
    dist.Work.wait = _telling(dist.Work.wait)


def _gives_work(method: Any) -> bool:
    """By its own words: the names differ between releases of torch."""
    return "Work" in (getattr(method, "__doc__", None) or "").partition(" -> ")[2].partition("\n")[0]


def _remembering(method: Callable[..., Any], reduces: bool) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        gate = current.now.gate
        if gate is None or threading.get_ident() != gate.main:
            return method(self, *arguments, **named)
        gate.forget()
        if reduces and arguments:
            options = getattr(arguments[-1], "reduceOp", None)
            gate.reduction = None if options is None else int(options.op)
        try:
            work = method(self, *arguments, **named)
        finally:
            gate.reduction = None
        if work is not None:
            gate.gave(work)
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
