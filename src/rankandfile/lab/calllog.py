"""An account of which rank issued which call, independent of the Flight Recorder.

A kernel at the BackendSelect dispatch key of every c10d operator sees each call of every caller: Python functions,
DDP's reducer, FSDP's hooks, functional collectives. The kernel must leave no Python frame on the stack while the
real operator runs, or the frame would show in the Flight Recorder's own records. Hence the property below: the
dispatcher looks up `__call__`, which runs the note-taking and is over before the C++ operator it returns is called.

The price is that the arguments are not seen. The group is told from the sequence numbers of the groups before this
call and before the next one (`rankandfile.lab.calls` works that out), with the caller's local variable as a hint.
"""

from __future__ import annotations

import functools
import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

OPERATORS = {
    "send": "send",
    "recv_": "recv",
    "recv_any_source_": "recv",
    "broadcast_": "broadcast",
    "reduce_": "reduce",
    "allreduce_": "all_reduce",
    "allreduce_coalesced_": "all_reduce",
    "allgather_": "all_gather",
    "_allgather_base_": "all_gather",
    "allgather_coalesced_": "all_gather",
    "allgather_into_tensor_coalesced_": "all_gather",
    "reduce_scatter_": "reduce_scatter",
    "_reduce_scatter_base_": "reduce_scatter",
    "reduce_scatter_tensor_coalesced_": "reduce_scatter",
    "gather_": "gather",
    "scatter_": "scatter",
    "alltoall_": "all_to_all",
    "alltoall_base_": "all_to_all",
    "barrier": "barrier",
    "monitored_barrier_": "monitored_barrier",
}
_HINTS = ("group", "process_group", "pg")
_PEERS, _PEERS_IN_GROUP = ("dst", "src"), ("group_dst", "group_src")


class CallLog:
    """Writes one line per call, before the call is made."""

    def __init__(self, path: Path, src: str) -> None:
        self._file = path.open("w", buffering=1)
        self._src = src.rstrip("/") + "/"
        self._lock = threading.Lock()
        self._known: set[str] = set()
        self._count = 0

    def note(self, op: str, frame: Any) -> None:
        """One call is about to be issued from `frame`."""
        hint, peer = _look_at_caller(frame)
        stack = []
        while frame is not None:
            code = frame.f_code
            if code.co_filename.startswith(self._src):
                stack.append((code.co_filename[len(self._src) :], frame.f_lineno, code.co_name))
            frame = frame.f_back
        with self._lock:
            line = {
                "kind": "call",
                "n": self._count,
                "t": time.time(),
                "op": op,
                "hint": hint,
                "peer": peer,
                "thread": threading.current_thread().name,
                "stack": stack,
                "seqs": self._sequence_numbers(),
            }
            self._count += 1
            self._write(line)

    def mark(self, what: str) -> None:
        """A line without a call, to learn which group the last call belonged to."""
        with self._lock:
            self._write({"kind": what, "t": time.time(), "seqs": self._sequence_numbers()})

    def _write(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line) + "\n")

    def _sequence_numbers(self) -> dict[str, int]:
        from torch.distributed import distributed_c10d as c10d

        numbers = {}
        for group, name in list(c10d._world.pg_names.items()):
            if name not in self._known:
                self._known.add(name)
                ranks = c10d.get_process_group_ranks(group)
                desc = str(getattr(group, "group_desc", ""))
                self._write({"kind": "group", "name": name, "desc": desc, "ranks": ranks})
            numbers[name] = int(group._get_sequence_number_for_group())
        return numbers


def _look_at_caller(frame: Any) -> tuple[str | None, int | None]:
    """The group and the peer, when the torch function that issues the call has them in local variables."""
    from torch.distributed import distributed_c10d as c10d

    group, peer = None, None
    if frame is not None and frame.f_code.co_filename == c10d.__file__:
        values = frame.f_locals
        of = next((values[name] for name in _HINTS if values.get(name) in c10d._world.pg_names), None)
        group = c10d._world.pg_names.get(of)
        peer = next((values[name] for name in _PEERS if isinstance(values.get(name), int)), None)
        within = next((values[name] for name in _PEERS_IN_GROUP if isinstance(values.get(name), int)), None)
        if peer is None and within is not None and of is not None:
            # `send` has made it a number within the group by then; a peer is one of all ranks here.
            peer = c10d.get_global_rank(of, within)
    return group, peer


_libraries: list[Any] = []


def install(path: Path, src: str) -> CallLog:
    """Begin to note the calls of this process; `src` is the folder whose frames count as user code."""
    import torch

    log = CallLog(path, src)
    dense = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
    library = torch.library.Library("c10d", "IMPL")
    for name, op in OPERATORS.items():
        overload = getattr(getattr(torch.ops.c10d, name, None), "default", None)
        if overload is not None:
            call = functools.partial(overload._handle.redispatch_boxed, dense)
            library.impl(name, _kernel(log, op, call), "BackendSelect")
    _libraries.append(library)
    return log


def _kernel(log: CallLog, op: str, call: Any) -> Any:
    def note_then_hand_over(_self: Any) -> Any:
        try:
            log.note(op, sys._getframe(1))
        except Exception as error:
            sys.stderr.write(f"call log: {error!r}\n")
        return call

    return type("Kernel", (), {"__call__": property(note_then_hand_over)})()
