"""Putting the gate up in this process, and letting the others know when it ends."""

from __future__ import annotations

import atexit
import functools
import os
import sys
import time
import traceback
from pathlib import PurePath
from types import TracebackType
from typing import Any

from rankandfile.runtime.plan import works
from rankandfile.runtime.plan.gate import Gate
from rankandfile.runtime.recorder import current, kernels
from rankandfile.runtime.recorder.stacks import inner
from rankandfile.runtime.switch import guards_on

_failed: list[str] = []


def start() -> Gate | None:
    """The gate of this process; None where `RAF_GUARDS=0` or `RAF=0` turns plans off."""
    if not guards_on():
        return None
    if current.now.gate is not None:
        return current.now.gate
    if current.now.native is not None:
        sys.stderr.write("raf: no plan: the recorder's native library lets all calls by; set RAF_NATIVE=0\n")
        return None
    kernels.install()
    current.now.gate = Gate()
    if not getattr(sys.excepthook, "raf", False):
        _hear_of_the_end()
        works.follow()
        os.register_at_fork(after_in_child=_forked)
    return current.now.gate


def _forked() -> None:
    """The plan is the parent's; a child that wants one begins its own."""
    current.now.gate = None


def _hear_of_the_end() -> None:
    from torch.distributed import distributed_c10d as c10d

    before = sys.excepthook

    def failed(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        _failed.append(f"ended with {kind.__name__}: {str(error)[:200]}{_where(trace)}")
        # At once: what ends after it, such as the other threads, may wait for those who wait for this rank.
        _tell(_failed[-1])
        before(kind, error, trace)

    failed.raf = True  # type: ignore[attr-defined]
    sys.excepthook = failed
    destroy = c10d.destroy_process_group

    @functools.wraps(destroy)
    def destroy_process_group(group: Any = None) -> Any:
        if group is None or group is c10d.GroupMember.WORLD:
            frame = sys._getframe(1)
            _tell(f"ended its groups at {PurePath(frame.f_code.co_filename).name}:{frame.f_lineno}")
        return destroy(group)

    c10d.destroy_process_group = destroy_process_group
    sys.modules["torch.distributed"].destroy_process_group = destroy_process_group  # type: ignore[attr-defined]
    atexit.register(_ended)


def _where(trace: TracebackType | None) -> str:
    """The innermost line of the program."""
    own = [
        at
        for at in traceback.extract_tb(trace)
        if not inner(at.filename) and "site-packages" not in at.filename
    ]
    return f" at {PurePath(own[-1].filename).name}:{own[-1].lineno} in {own[-1].name}" if own else ""


def _ended() -> None:
    _tell("ended")
    if current.now.gate is not None:
        current.now.gate.stop()


def _tell(words: str) -> None:
    """Once per life of the default group. Raises nothing."""
    gate = current.now.gate
    if gate is None or gate.board is None or gate.breach is not None:
        return
    board, gate.board = gate.board, None
    try:
        counts = {ident: series.count for ident, series in gate.series.items()}
        facts = {"words": words, "failed": words in _failed, "at": time.time()}
        board.tell("end", rank=board.world.me, counts=counts, **facts)
    except Exception:
        gate.failures += 1
