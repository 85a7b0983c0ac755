"""Where a guard stands: the line that called it, the step that the job is at, and the blocks around it."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from contextvars import ContextVar
from pathlib import PurePath
from types import TracebackType

from rankandfile.runtime import watchers

_PACKAGE = str(PurePath(__file__).parent.parent)
_FACADE = str(PurePath(_PACKAGE).parent / "guard.py")

_steps: ContextVar[tuple[str, ...]] = ContextVar("steps", default=())
#: The steps whose `with` blocks are open; a step without a block is on top of these until the next one.
_open: ContextVar[tuple[str, ...]] = ContextVar("open", default=())


def site() -> str:
    """`folder/file.py:line` of the nearest frame outside guards; not the whole path, which may differ between hosts."""
    frame = sys._getframe(1)
    while True:
        name = frame.f_code.co_filename
        if not (name.startswith(_PACKAGE) or name == _FACADE or name.endswith("contextlib.py")):
            return f"{'/'.join(PurePath(name).parts[-2:])}:{frame.f_lineno}"
        if frame.f_back is None:
            return "?"
        frame = frame.f_back


def current_step() -> str:
    """The step, after the steps around it: `2/17`. Empty outside of any."""
    return "/".join(_steps.get())


def thread_name() -> str:
    """Empty for the main thread, the one that all ranks have."""
    thread = threading.current_thread()
    return "" if thread is threading.main_thread() else thread.name


class Step:
    """One step of the job; see `rankandfile.guard.step`."""

    def __init__(self, n: object) -> None:
        self._outer = _open.get()
        self._inner = (*self._outer, str(n))
        _steps.set(self._inner)
        watchers.stepped(self._inner)

    def __enter__(self) -> Step:
        _open.set(self._inner)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _open.set(self._outer)
        _steps.set(self._outer)


#: The blocks (loops, `collective_finally`) that threads of this rank are in, by the key of their guard.
_blocks: Counter[str] = Counter()
_lock = threading.Lock()


def enter_block(key: str) -> None:
    with _lock:
        _blocks[key] += 1


def leave_block(key: str) -> None:
    with _lock:
        _blocks[key] -= 1
        if _blocks[key] <= 0:
            del _blocks[key]


def is_in_block(key: str) -> bool:
    return key in _blocks
