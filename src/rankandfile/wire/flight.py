"""A ring's calls in the form of torch's own recorder, so that whatever reads that form reads rings too."""

from __future__ import annotations

import re
from typing import Any

from rankandfile.wire import layout
from rankandfile.wire.layout import OPERATORS
from rankandfile.wire.reading import Contents, Kept

VERSION = "2.10"

#: A thread that runs has asked for a call after this long, also on a busy machine.
_ASKED_NS = 500_000_000

_LIBRARY = re.compile(r"/python3(\.\d+)?/")

_NAMES = {
    "allreduce_": "all_reduce",
    "allreduce_coalesced_": "allreduce_coalesced",
    "broadcast_": "broadcast",
    "reduce_": "reduce",
    "allgather_": "all_gather",
    "_allgather_base_": "_all_gather_base",
    "allgather_coalesced_": "all_gather",
    "allgather_into_tensor_coalesced_": "all_gather_into_tensor_coalesced",
    "reduce_scatter_": "reduce_scatter",
    "_reduce_scatter_base_": "_reduce_scatter_base",
    "reduce_scatter_tensor_coalesced_": "reduce_scatter_tensor_coalesced",
    "gather_": "gather",
    "scatter_": "scatter",
    "alltoall_": "all_to_all",
    "alltoall_base_": "all_to_all",
    "barrier": "barrier",
    "monitored_barrier_": "monitored_barrier",
    "send": "send",
    "recv_": "recv",
    "recv_any_source_": "recv",
}

#: What fr_trace accepts before the colon; it stops at anything else.
_KNOWN = ("nccl", "ncclx", "xccl", "gloo", "rccl", "rcclx", "mccl", "hccl")


def dump(contents: Contents) -> dict[str, Any]:
    """The dump: groups are keyed by their number in the ring, since a name can be given twice."""
    return {"version": VERSION, "entries": _entries(contents), "pg_config": _groups(contents)}


def for_torch(found: dict[str, Any]) -> dict[str, Any]:
    """The same, as torch's fr_trace can read it: it stops at groups whose members it is not told, and at names and
    backends that are not on its list."""
    groups = {
        group["name"]: {**group, "ranks": str(list(group["ranks"]))} for group in found["pg_config"].values()
    }
    entries = [
        {**entry, "profiling_name": _known_name(entry["profiling_name"])}
        for entry in found["entries"]
        if entry["process_group"][0] in groups
    ]
    return {**found, "pg_config": groups, "pg_status": {}, "entries": entries}


def _known_name(name: str) -> str:
    backend, _, operation = name.partition(":")
    if operation == "monitored_barrier":
        operation = "barrier"
    return f"{backend if backend in _KNOWN else 'gloo'}:{operation}"


def name(operator: int, own: int, peer: int) -> str | None:
    """`all_reduce`, `send 0->1`; None for an operator of a later version."""
    if not 0 < operator < len(OPERATORS):
        return None
    word = _NAMES[OPERATORS[operator]]
    if word in ("send", "recv"):
        arrow = "->" if word == "send" else "<-"
        return f"{word} {own}{arrow}{peer}" if peer >= 0 else word
    return word


def backend(config: str, on_device: bool) -> str:
    """Which library carries a call, of `gloo`, or of `cpu:gloo,cuda:nccl`."""
    pairs = [part.rpartition(":")[::2] for part in str(config).split(",")]
    wanted = [library for device, library in pairs if device and (device != "cpu") == on_device]
    return (wanted or [library for _, library in pairs])[0] or "gloo"


def _groups(contents: Contents) -> dict[str, Any]:
    found = {}
    for number, entry in contents.table.get(layout.GROUP, {}).items():
        if len(entry) >= 3 and entry[2]:
            found[str(number)] = {"name": entry[0], "desc": entry[1], "ranks": entry[2]}
    return found


def _entries(contents: Contents) -> list[dict[str, Any]]:
    describe = _Describe(contents)
    # A pulse is not the thread's own doing.
    own = [kept.record for kept in contents.records if kept.record.kind != layout.PULSE]
    last = {record.thread: record.number for record in own}
    # What goes into a CUDA graph is not made then, but whenever the graph is replayed.
    calls = [
        kept
        for kept in contents.records
        if kept.record.kind == layout.CALL and not kept.record.flags & layout.CAPTURED
    ]
    gone_on = _sends_let_go(calls, _waits_elsewhere(contents)) | _not_asked_for(
        calls, contents.header.beat_ns
    )
    entries = [
        describe.entry(kept, last[kept.record.thread] > kept.record.number, kept.record.number in gone_on)
        for kept in calls
    ]
    return [entry for entry in entries if entry is not None]


def _sends_let_go(calls: list[Kept], elsewhere: set[int]) -> set[int]:
    """Sends in host memory that nobody has waited for, whose thread waits for something else now: for a later call, or
    `elsewhere`. gloo never says of such a send that it is complete; it is no reason why the thread stands still, nor
    does it hold up what comes after it."""
    waits = {kept.record.thread: kept.record.number for kept in calls if not kept.done_us}
    sends = (OPERATORS.index("send"), layout.P2P)
    return {
        kept.record.number
        for kept in calls
        if (kept.record.op, kept.record.flags & (layout.P2P | layout.SYNC | layout.ON_DEVICE)) == sends
        and not kept.done_us
        and (waits[kept.record.thread] > kept.record.number or kept.record.thread in elsewhere)
    }


def _not_asked_for(calls: list[Kept], beat_ns: int) -> set[int]:
    """Calls in host memory of which nobody saw the end: the thread that asks has not run since, as its process was
    stopped, was killed or holds Python's lock. A later call of the group was complete: somebody waited for that one."""
    complete: set[int] = set()
    found: set[int] = set()
    for kept in reversed(calls):
        record = kept.record
        if record.flags & (layout.P2P | layout.ON_DEVICE):
            continue
        if kept.done_us:
            complete.add(record.group)
        elif (
            record.group in complete
            and kept.left_us != layout.RAISED
            and beat_ns < record.wall_ns + _ASKED_NS
        ):
            found.add(record.number)
    return found


def _waits_elsewhere(contents: Contents) -> set[int]:
    """Threads whose last sign of life stands in Python's own library: whoever waits for a work object stands in the
    program, or in torch."""
    newest = {kept.record.thread: kept.record for kept in contents.records}
    found = set()
    for thread, record in newest.items():
        stack = (
            contents.table.get(layout.STACK, {}).get(record.stack) if record.kind == layout.PULSE else None
        )
        frame = (
            contents.table.get(layout.FRAME, {}).get(stack[1])
            if stack is not None and len(stack) > 1
            else None
        )
        file = str(frame[1]) if frame is not None and len(frame) == 3 else ""
        if _LIBRARY.search(file) and "-packages/" not in file:
            found.add(thread)
    return found


class _Describe:
    """Looks up what records refer to. Equal parts stay one object: the decoder compares by identity first."""

    def __init__(self, contents: Contents) -> None:
        self._table = contents.table
        self._stacks: dict[int, list[dict[str, Any]] | None] = {}

    def entry(self, kept: Kept, thread_went_on: bool, let_go: bool) -> dict[str, Any] | None:
        record = kept.record
        group = self._row(layout.GROUP, record.group, ["?", "", [], "", -1, 0])
        word = name(record.op, group[4], record.peer)
        if word is None:
            return None
        shape = self._row(layout.SHAPE, record.shape, [[], [], [], []])
        thread = self._row(layout.THREAD, record.thread, ["", ""])
        completed = kept.done_us > 0
        # A synchronous call has ended when its thread is seen to do anything after it.
        ended = kept.left_us == layout.RAISED or (bool(record.flags & layout.SYNC) and thread_went_on)
        ended |= let_go
        return {
            "record_id": record.number,
            "pg_id": record.group,
            "process_group": (group[0], group[1]),
            "collective_seq_id": record.seq,
            "p2p_seq_id": record.p2p_seq,
            "op_id": record.op_seq,
            "profiling_name": f"{backend(group[3], bool(record.flags & layout.ON_DEVICE))}:{word}",
            "time_created_ns": record.wall_ns,
            "time_discovered_started_ns": None,
            "time_discovered_completed_ns": record.wall_ns + kept.done_us * 1000 if completed else None,
            "state": "completed" if completed else "scheduled",
            "retired": completed or ended,
            "is_p2p": bool(record.flags & layout.P2P),
            "input_sizes": shape[0],
            "input_dtypes": shape[1],
            "output_sizes": shape[2],
            "output_dtypes": shape[3],
            "frames": self._stack(record.stack),
            "timeout_ms": None,
            "thread_id": str(thread[0]),
            "thread_name": str(thread[1]),
        }

    def _row(self, kind: bytes, number: int, default: list[Any]) -> list[Any]:
        found = self._table.get(kind, {}).get(number)
        return found if found is not None and len(found) >= len(default) else default

    def _stack(self, number: int) -> list[dict[str, Any]] | None:
        if number not in self._stacks:
            frames = self._table.get(layout.STACK, {}).get(number)
            self._stacks[number] = None if frames is None else [self._frame(frame) for frame in frames[1:]]
        return self._stacks[number]

    def _frame(self, number: Any) -> dict[str, Any]:
        found = self._table.get(layout.FRAME, {}).get(number) if type(number) is int else None
        function, file, line = found if found is not None and len(found) == 3 else ("?", "?", 0)
        return {"name": function, "filename": file, "line": line}
