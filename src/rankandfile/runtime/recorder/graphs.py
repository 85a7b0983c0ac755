"""CUDA graphs: calls that are captured are not made then, and those of a replay pass no dispatcher.

So a captured call is marked as such, and each replay is noted with how many calls the graph holds.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

from rankandfile.runtime.recorder import current

KIND = "cuda graph"
_held: dict[int, tuple[str, int]] = {}
_begun: dict[int, int] = {}
_number = itertools.count(1)


def watch() -> None:
    """Hear of captures and replays; once per process. Raises nothing."""
    try:
        from torch.cuda.graphs import CUDAGraph
    except Exception:
        return
    for name, told in (("capture_begin", _began), ("capture_end", _ended), ("replay", _replayed)):
        method = getattr(CUDAGraph, name, None)
        if method is not None and not hasattr(method, "raf"):
            setattr(CUDAGraph, name, _telling(method, told))


def _telling(method: Callable[..., Any], told: Callable[[Any, Any], None]) -> Callable[..., Any]:
    @functools.wraps(method)
    def tell(self: Any, *arguments: Any, **named: Any) -> Any:
        recorder = current.now.recorder
        if recorder is not None:
            try:
                told(recorder, self)
            except Exception:
                recorder.failures += 1
        try:
            return method(self, *arguments, **named)
        except BaseException:
            if recorder is not None and told is _began:
                _mark(recorder, False)
            raise

    tell.raf = True  # type: ignore[attr-defined]
    return tell


def _began(recorder: Any, graph: Any) -> None:
    _begun[id(graph)] = recorder.ring.last()
    _mark(recorder, True)


def _ended(recorder: Any, graph: Any) -> None:
    _mark(recorder, False)
    calls = recorder.ring.last() - _begun.pop(id(graph), recorder.ring.last())
    name = f"graph {next(_number)}"
    _held[id(graph)] = (name, calls)
    recorder.note(KIND, name, f"captured with {calls} calls")


def _replayed(recorder: Any, graph: Any) -> None:
    name, calls = _held.get(id(graph), ("a graph", 0))
    recorder.note(KIND, name, f"replayed: {calls} calls that are not seen")


def _mark(recorder: Any, capturing: bool) -> None:
    recorder.capturing = capturing
    if current.now.native is not None:
        current.now.native.set_capturing(capturing)
