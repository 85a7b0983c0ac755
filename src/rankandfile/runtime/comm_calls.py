"""The calls of one TorchComms communicator, heard through its hooks."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from typing import Any

from rankandfile.runtime.recorder.tables import dtype_name, tensors

DEPTH = 64
_INPUTS, _OUTPUTS = ("input", "tensor"), ("output", "tensor")
_P2P = ("send", "recv")
#: Not calls that ranks wait in together.
_SILENT = ("finalize",)


class CommCalls:
    """Numbers are per communicator and from 1: TorchComms' own recorder counts all of a process together, so that the
    same call has another number on each rank. Raises nothing into the job."""

    def __init__(self, comm: Any, number: int, most: int) -> None:
        self.name = str(comm.get_name())
        self.entries: deque[dict[str, Any]] = deque(maxlen=most)
        self._number = number
        self._backend = str(comm.get_backend())
        self._rank, self._size = int(comm.get_rank()), int(comm.get_size())
        ranks = getattr(comm, "get_ranks", None)  # of later versions
        self._ranks = [int(one) for one in ranks()] if callable(ranks) else list(range(self._size))
        self._open: dict[int, dict[str, Any]] = {}
        self._seq = self._p2p_seq = self._record = 0
        self._lock = threading.Lock()
        self._handles = [comm.register_pre_hook(self._before), comm.register_post_hook(self._after)]

    @property
    def active(self) -> bool:
        return bool(self._handles)

    def stop(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def config(self) -> dict[str, str]:
        return {"name": self.name, "desc": self._backend, "ranks": str(self._ranks)}

    def copies(self) -> list[dict[str, Any]]:
        with self._lock:
            return [dict(entry) for entry in self.entries]

    def _before(self, name: Any, op_id: int, arguments: Any) -> None:
        try:
            word = str(name).rpartition(".")[2]
            if word not in _SILENT:
                self._enter(word, op_id, arguments, _frames(sys._getframe(1)))
        except Exception:
            return  # a hook that raises would end the job

    def _enter(self, word: str, op_id: int, arguments: Any, frames: list[dict[str, Any]]) -> None:
        p2p = word in _P2P
        profiling = word
        if p2p:
            arrow = "->" if word == "send" else "<-"
            profiling = f"{word} {self._rank}{arrow}{int(arguments.peer)}"
        with self._lock:
            self._record += 1
            self._seq += not p2p
            self._p2p_seq += p2p
            entry = {
                "record_id": self._record,
                "pg_id": self._number,
                "process_group": (self.name, self._backend),
                "collective_seq_id": self._seq,
                "p2p_seq_id": self._p2p_seq,
                "op_id": op_id,
                "profiling_name": f"{self._backend}:{profiling}",
                "time_created_ns": time.time_ns(),
                "time_discovered_started_ns": None,
                "time_discovered_completed_ns": None,
                "state": "scheduled",
                "retired": False,
                "is_p2p": p2p,
                "timeout_ms": None,
                "thread_id": str(threading.get_ident()),
                "thread_name": threading.current_thread().name,
                "frames": frames,
                **_side("input", arguments, () if word == "recv" else _INPUTS),
                **_side("output", arguments, () if word == "send" else _OUTPUTS),
            }
            if len(self._open) > 2 * (self.entries.maxlen or 0):
                self._open.clear()  # their ends were never told
            self._open[op_id] = entry
            self.entries.append(entry)

    def _after(self, op_id: int, _: Any) -> None:
        with self._lock:
            entry = self._open.pop(op_id, None)
            if entry is not None:
                entry |= {
                    "state": "completed",
                    "retired": True,
                    "time_discovered_completed_ns": time.time_ns(),
                }


def _side(which: str, arguments: Any, names: tuple[str, ...]) -> dict[str, Any]:
    value = next((getattr(arguments, name) for name in names if hasattr(arguments, name)), None)
    found = tensors(value)
    return {
        f"{which}_sizes": [list(one.shape) for one in found],
        f"{which}_dtypes": [dtype_name(one.dtype) for one in found],
    }


def _frames(frame: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while frame is not None and len(found) < DEPTH:
        code = frame.f_code
        found.append({"name": code.co_name, "filename": code.co_filename, "line": frame.f_lineno})
        frame = frame.f_back
    return found
