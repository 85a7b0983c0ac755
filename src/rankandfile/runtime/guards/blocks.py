"""The blocks (loops, `collective_finally`) that threads of this rank are in, by the key of their guard."""

from __future__ import annotations

import threading
from collections import Counter

_open: Counter[str] = Counter()
_lock = threading.Lock()


def enter(key: str) -> None:
    with _lock:
        _open[key] += 1


def leave(key: str) -> None:
    with _lock:
        _open[key] -= 1
        if _open[key] <= 0:
            del _open[key]


def is_open(key: str) -> bool:
    return key in _open
