"""`FlightRecorderHook` with TorchComms' interface, for its communicators and for torch.distributed's groups.

TorchComms' package on PyPI is a placeholder. This follows the interface that its sources document (hooks/fr/_fr.pyi,
_comms.pyi), and is tested against a stand-in with the same signatures.

A group of torch.distributed needs no hook: the recorder sees its calls. There the hook starts it, and reads the ring.
"""

from __future__ import annotations

import json
import os
import pickle
import threading
from pathlib import Path
from typing import Any

from rankandfile.runtime.comm_calls import CommCalls
from rankandfile.runtime.recorder import current
from rankandfile.runtime.recorder.start import start
from rankandfile.runtime.switch import recorder_on
from rankandfile.wire import flight, reading

#: Prefix of the files, and the variable that says another; as TorchComms has them.
_VARIABLE, _PREFIX = "TORCHCOMM_FR_DUMP_TEMP_FILE", "comm_lib_trace_rank_"


class FlightRecorderHook:
    """The newest calls of what it is registered with, in the form of torch's own recorder."""

    def __init__(self, max_entries: int = 2048, isolated: bool = False) -> None:
        """`isolated` is accepted for the interface: every hook keeps its own entries here."""
        del isolated
        self._most = max(0, max_entries)
        self._comms: list[CommCalls] = []
        self._groups: list[str] = []
        self._since = 0
        self._until: int | None = None
        """The last record of a process group that is given out, once nothing is registered any more."""
        self._lock = threading.Lock()

    def register_with_comm(self, comm: Any) -> None:
        """Record the calls of a TorchComms communicator, or of a torch.distributed process group."""
        if hasattr(comm, "register_pre_hook"):
            if recorder_on():
                with self._lock:
                    self._comms.append(CommCalls(comm, len(self._comms), self._most))
            return
        name = getattr(comm, "group_name", None)
        if not isinstance(name, str):
            raise TypeError(f"neither a communicator nor a process group: {type(comm).__name__}")
        start()
        with self._lock:
            self._groups.append(name)
            self._until = None

    def unregister(self) -> None:
        """Hear of no more calls; what was recorded stays. The recorder of the process goes on."""
        with self._lock:
            for comm in self._comms:
                comm.stop()
            self._until = _last()

    def is_enabled(self) -> bool:
        """Whether it is registered with anything that is recorded."""
        recorded = bool(self._groups) and self._until is None and current.now.recorder is not None
        return recorded or any(comm.active for comm in self._comms)

    def reset(self) -> None:
        """Forget all entries."""
        with self._lock:
            for comm in self._comms:
                comm.entries.clear()
            self._since = _last()

    def size(self) -> int:
        return len(self._dump(True)["entries"])

    __len__ = size

    def dump_json(self, include_completed: bool = True) -> str:
        """A trace as `fr_trace_json` of torch gives it."""
        return json.dumps(self._dump(include_completed))

    def dump_file(self, rank: int, include_completed: bool = True) -> str:
        """Write a pickle that torch's fr_trace reads; returns its path, the prefix and the rank."""
        prefix = os.environ.get(_VARIABLE)
        if prefix is None:
            cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "torch"
            cache.mkdir(parents=True, exist_ok=True)
            prefix = str(cache / _PREFIX)
        path = Path(f"{prefix}{rank}")
        part = path.with_name(f".{path.name}.{os.getpid()}")
        part.write_bytes(pickle.dumps(self._dump(include_completed), protocol=2))
        part.replace(path)
        return str(path)

    def _dump(self, include_completed: bool) -> dict[str, Any]:
        with self._lock:
            found = self._of_groups()
            for comm in self._comms:
                found["pg_config"][comm.name] = comm.config()
                found["entries"] += comm.copies()
        entries = sorted(found["entries"], key=lambda entry: int(entry["time_created_ns"]))
        entries = [one for one in entries if include_completed or not one["retired"]]
        return {**found, "entries": entries[-self._most :] if self._most else []}

    def _of_groups(self) -> dict[str, Any]:
        recorder = current.now.recorder
        contents = reading.read(bytes(recorder.ring.map)) if recorder is not None and self._groups else ""
        if isinstance(contents, str):
            return {"version": flight.VERSION, "pg_config": {}, "pg_status": {}, "entries": []}
        dump = flight.for_torch(flight.dump(contents))
        names = set(self._groups)
        return {
            **dump,
            "pg_config": {name: group for name, group in dump["pg_config"].items() if name in names},
            "entries": [
                entry
                for entry in dump["entries"]
                if entry["process_group"][0] in names
                and entry["record_id"] > self._since
                and (self._until is None or entry["record_id"] <= self._until)
            ],
        }


def _last() -> int:
    """The newest record of this process."""
    return current.now.recorder.ring.last() if current.now.recorder is not None else 0
