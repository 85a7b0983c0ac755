"""What a rank answers: torch's worker server, on a socket that only this user reaches.

It has torch's handlers in C++ and none of ours: one in Python would need Python's lock, and torch aborts the process
where one runs while Python ends, or waits for it for ever.
"""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path
from typing import Any

from rankandfile.runtime import answering

#: The page's process is there within so long, or not at all.
_PATIENCE_S, _POLL_S = 60.0, 0.2


def serve(folder: Path) -> Path:
    """Answer in this folder until the process ends, where this torch can; at which path."""
    with contextlib.suppress(Exception):
        import torch.distributed.debug._handlers  # noqa: F401  its profiler
    with contextlib.suppress(ImportError):
        answering.answer(folder)
    return answering.socket_of(folder)


def let_look(said: Path) -> None:
    """Let the page take stacks of this process; its number is in a file that it writes when it is there."""
    threading.Thread(target=_let_look, args=(said,), name="raf-let-look", daemon=True).start()


def _let_look(said: Path) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, ValueError):
            answering.let_look(int(said.read_text()))
            return
        time.sleep(_POLL_S)


def plug_into_torch() -> None:
    """Give torch's own debug server, where it is started later, our handlers among its own."""
    with contextlib.suppress(Exception):  # it needs packages that torch does not bring
        from torch.distributed.debug import _debug_handlers

        from rankandfile.runtime.debug.torch_handlers import ours_among

        original = _debug_handlers.default_handlers
        if not hasattr(original, "raf"):

            def default_handlers() -> list[Any]:
                return ours_among(original())

            default_handlers.raf = True  # type: ignore[attr-defined]
            _debug_handlers.default_handlers = default_handlers
