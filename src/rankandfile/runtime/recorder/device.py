"""Whether a device's work may be asked about from the recorder's thread: only where that disturbs no capture.

CUDA forbids threads to ask about events while a graph is being captured anywhere, and what they ask breaks the capture,
unless the thread says that it minds its own streams only (`cudaStreamCaptureModeThreadLocal`). torch's own watchdog
lives with the same rule. Off unless `RAF_DEVICE_COMPLETION=1`: of NCCL's synchronous calls, torch keeps no work object
to ask about (measured with torch 2.11).
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

_THREAD_LOCAL = 1


def wanted() -> bool:
    return os.environ.get("RAF_DEVICE_COMPLETION", "").strip().lower() in ("1", "on", "yes", "true")


def allow_asking() -> bool:
    """Make it harmless for the calling thread to ask; false where that cannot be had. Raises nothing."""
    try:
        library = _runtime()
        mode = ctypes.c_int(_THREAD_LOCAL)
        return library is not None and library.cudaThreadExchangeStreamCaptureMode(ctypes.byref(mode)) == 0
    except Exception:
        return False


def _runtime() -> Any:
    """The CUDA runtime that torch has loaded; another one would not know its streams."""
    loaded = Path("/proc/self/maps").read_text().split()
    path = next((word for word in loaded if "/libcudart" in word), None)
    return ctypes.CDLL(path) if path is not None else None
