"""Seeing every call: a kernel at the BackendSelect dispatch key of every c10d operator.

Functions bound early, functional collectives, DTensor, compiled graphs, DDP's C++ reducer and FSDP all pass the
dispatcher. No kernel exists at that key, so nothing is overridden, and it holds in inference mode.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import astuple
from typing import Any

from rankandfile.runtime.recorder import current, graphs
from rankandfile.runtime.recorder.operators import Operator, operators
from rankandfile.runtime.recorder.recorder import Token

_libraries: list[Any] = []


def installed() -> bool:
    """Whether kernels are registered in this process, or were in the one it was forked off."""
    return bool(_libraries)


def install(native: Any = None) -> None:
    """Register the kernels, those of the native library where there is one; once per process and its forks."""
    if _libraries:
        return
    import torch

    graphs.watch()
    if native is not None:
        native.install(
            [(*astuple(operator), len(overload._schema.arguments)) for operator, overload in operators()]
        )
        _libraries.append(native)
        _watch_waits(native.waited)
        return
    library = torch.library.Library("c10d", "IMPL")
    after = torch._C._dispatch_keyset_full_after(torch._C.DispatchKey.BackendSelect)
    for operator, overload in operators():
        kernel = _kernel(operator, overload._handle.redispatch_boxed, after)
        library.impl(operator.name, kernel, "BackendSelect", with_keyset=True)
    _libraries.append(library)
    _watch_waits(_waited)


def _watch_waits(waited: Callable[[], None]) -> None:
    """Learn when a wait is over: a process that is killed right behind it has no time to say so otherwise."""
    import torch.distributed as dist

    wait = dist.Work.wait

    @functools.wraps(wait)
    def wait_and_tell(self: Any, *arguments: Any, **named: Any) -> Any:
        result = wait(self, *arguments, **named)
        waited()
        return result

    dist.Work.wait = wait_and_tell


def _waited() -> None:
    recorder = current.now.recorder
    if recorder is not None:
        recorder.waited()


def _kernel(operator: Operator, redispatch: Any, after: Any) -> Any:
    def call(keys: Any, *arguments: Any) -> Any:
        gate = current.now.gate
        if gate is not None:
            gate.enter(operator, arguments)
        token = _enter(operator, arguments)
        try:
            result = redispatch(keys & after, *arguments)
        except BaseException as error:
            _leave(token, None, raised=True)
            if gate is not None:
                gate.failed(error)
            raise
        _leave(token, result)
        if gate is not None:
            gate.issued()
        return result

    return call


def _enter(operator: Operator, arguments: tuple[Any, ...]) -> Token | None:
    recorder = current.recorder()
    if recorder is None:
        return None
    try:
        return recorder.enter(operator, arguments)
    except Exception:
        recorder.failures += 1
        return None


def _leave(token: Token | None, result: Any, raised: bool = False) -> None:
    recorder, completion = current.now.recorder, current.now.completion
    if token is None or recorder is None:
        return
    try:
        recorder.leave(token, raised)
        if raised:
            return
        recorder.issued(token)
        if result is None:
            recorder.done(token)  # without work to ask about, its return is its end
        if completion is not None:
            completion.follow(token, result)
    except Exception:
        recorder.failures += 1
