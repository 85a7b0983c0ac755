"""NCCL's RAS service, as JSON. One version of it forgets a comma, so this repairs before it reads."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import msgspec

from rankandfile.evidence.raw import RawNote
from rankandfile.evidence.text.logs.event import Event, clean
from rankandfile.evidence.text.logs.raw import LogRow, RawLog, columns_of, packed_columns
from rankandfile.model.ranks import MOST_RANKS

#: Bytes of one answer that are read: 16k ranks in thousands of communicators take tens of megabytes.
MOST = 128 << 20

_COMMA = re.compile(rb'("nvml_dev"\s*:\s*-?\d+)(\s*"status")')

#: Ranks listed per communicator where they differ from the rest.
_LISTED = 64


def is_one(head: bytes) -> bool:
    return head.lstrip()[:1] == b"{" and b'"communicators"' in head


def log(data: bytes, size: int) -> RawLog:
    """The answer in a file of that size, as if it were a log."""
    events, notes = read(data)
    world = max((e.fields["size"] for e in events if e.kind == "ras_communicator"), default=None)
    return RawLog(LogRow(bytes=size, world_size=world), packed_columns(columns_of(events)), notes)


def read(data: bytes) -> tuple[list[Event], list[RawNote]]:
    """One event per communicator, one more for counts that differ, one per process that is missing."""
    try:
        document, mended = parsed(data)
    except ValueError as error:
        return [], [RawNote("", str(error))]
    notes = [RawNote("", f"{mended} missing commas put in, as NCCL 2.28 leaves them out")] if mended else []
    events: list[Event] = []
    for communicator in dicts(document.get("communicators")):
        events += _communicator(communicator, data)
    return events, notes


def parsed(data: bytes) -> tuple[dict[str, Any], int]:
    """The document, and how many commas were missing. Raises ValueError, with a sentence."""
    if len(data) > MOST:
        raise ValueError(f"larger than an answer of RAS can be (limit {MOST >> 20} MiB): not read")
    count = 0
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        mended, count = _COMMA.subn(rb"\1,\2", data)
        try:
            document = msgspec.json.decode(mended)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise ValueError(f"an answer of RAS that is not JSON: {clean(str(error), 120)}") from None
    return document if isinstance(document, dict) else {}, count


def _communicator(communicator: dict[str, Any], data: bytes) -> list[Event]:
    comm_id = clean(str(communicator.get("hash", "")), 40)
    place = data.find(f'"{comm_id}"'.encode()) if comm_id else 0
    line, offset = data.count(b"\n", 0, max(place, 0)) + 1, max(place, 0)
    ranks, missing = dicts(communicator.get("ranks")), dicts(communicator.get("missing_ranks"))
    size = integer(communicator.get("size")) or 0
    size = size if 0 < size <= MOST_RANKS else len(ranks) + len(missing)

    def event(kind: str, shape: str, **fields: Any) -> Event:
        text = f"RAS: communicator {comm_id} of {size} ranks"
        return Event(
            line=line, offset=offset, kind=kind, shape=shape, role="fact", text=text,
            fields={"comm_id": comm_id, "size": size, **fields},
        )  # fmt: skip

    states = Counter(state(rank) for rank in ranks)
    summary = event("ras_communicator", "R4", states=dict(states), missing=len(missing))
    summary.text += f", {len(missing)} missing"
    found = [summary]
    for op, counts in _differing(ranks).items():
        common = Counter(counts.values()).most_common(1)[0][0]
        others = {rank: count for rank, count in counts.items() if count != common}
        behind = event("ras_mismatch", "R2")
        behind.op = clean(op, 60)
        behind.about, behind.about_in = sorted(others)[:_LISTED], "group"
        behind.fields["majority"] = [{"ranks": len(counts) - len(others), "count": common}]
        behind.fields["listed"] = [
            {"rank": rank, "count": count, **_place(ranks, rank)}
            for rank, count in sorted(others.items())[:_LISTED]
        ]
        behind.text += f": {op} launched {common} times, but not on {len(others)} of them"
        found.append(behind)
    if numbers := sorted(n for rank in missing[:_LISTED] if (n := integer(rank.get("rank"))) is not None):
        lacking = event("ras_missing_ranks", "R3")
        lacking.about, lacking.about_in = numbers, "group"
        lacking.text += f": {len(missing)} of them do not answer"
        found.append(lacking)
    for rank in missing[:_LISTED]:
        gone = event("ras_missing", "R3")
        status = rank.get("status")
        dead = isinstance(status, dict) and status.get("considered_dead") is True
        gone.kind = "ras_dead" if dead else "ras_missing"
        gone.group_rank, gone.pid = integer(rank.get("rank")), integer(rank.get("pid"))
        gone.host = clean(str(rank["host"]), 200) if rank.get("host") is not None else None
        gone.text += f": rank {gone.group_rank} of it {'is considered dead' if dead else 'does not answer'}"
        found.append(gone)
    return found


def _differing(ranks: list[dict[str, Any]]) -> dict[str, dict[int, int]]:
    """Operations whose counts differ: op -> rank -> launches. An operation never launched is not listed: zero."""
    counts = {
        number: {str(op): integer(n) or 0 for op, n in launched.items()}
        for rank in ranks
        if (number := integer(rank.get("rank"))) is not None
        and isinstance(launched := rank.get("collective_counts"), dict)
    }
    ops = sorted({op for launched in counts.values() for op in launched})[:_LISTED]
    by_op = {op: {number: launched.get(op, 0) for number, launched in counts.items()} for op in ops}
    return {op: values for op, values in by_op.items() if len(set(values.values())) > 1}


def _place(ranks: list[dict[str, Any]], number: int) -> dict[str, Any]:
    for rank in ranks:
        if rank.get("rank") == number:
            return {"pid": integer(rank.get("pid")), "host": clean(str(rank.get("host", "")), 200)}
    return {}


def state(rank: dict[str, Any]) -> str:
    status = rank.get("status")
    if not isinstance(status, dict):
        return "unknown"
    words = [
        name.removesuffix("_flag").removesuffix("_called")
        for name in ("finalize_called", "destroy_flag", "abort_flag")
        if status.get(name)
    ]
    if status.get("async_error"):
        words.append(f"async error {integer(status['async_error'])}")
    init = integer(status.get("init_state"))
    if init:
        words.append("initialising" if init == 7 else f"init state {init}")
    return ", ".join(words) or "running"


def dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def integer(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 31 else None
