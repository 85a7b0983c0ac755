"""What can be kept of a dump whose entries do not keep the format's promises, entry by entry."""

from __future__ import annotations

from typing import Any

from rankandfile.evidence.flight.entries import ALWAYS, INTEGER_KEYS, KIND_KEYS, TIMES, key_of, parser
from rankandfile.evidence.flight.interning import Interner, Malformed, integer
from rankandfile.evidence.raw import INTEGERS, NULL, RawNote

#: At most this many troubles of one sort are described one by one.
_MAX_NOTES = 5

_BREAKS = (Malformed, KeyError, TypeError, ValueError, OverflowError, RecursionError)


class _Troubles:
    def __init__(self, notes: list[RawNote], rest: str) -> None:
        self._notes, self._rest, self._count = notes, rest, 0

    def add(self, position: int, what: str) -> None:
        self._count += 1
        if self._count <= _MAX_NOTES:
            self._notes.append(RawNote(f"entry {position}", what))

    def close(self) -> None:
        if self._count > _MAX_NOTES:
            self._notes.append(RawNote("entries", f"{self._count - _MAX_NOTES} more {self._rest}"))


def repair(entries: list[Any], notes: list[RawNote]) -> list[dict[str, Any]]:
    """The sound ones among `entries`, all with the same keys; what is wrong with the others goes to `notes`.

    Numbers that are unknown are `NULL` already, as they are in a column.
    """
    present = {key for entry in entries if type(entry) is dict for key in entry if type(key) is str}
    missing = sorted(INTEGER_KEYS[column] for column in ALWAYS if key_of(column, present) is None)
    missing += [key for key in ("state", "retired") if key not in present]
    if missing and present:
        notes.append(RawNote("entries", f"no entry has {', '.join(missing)}: read without"))
    broken = _Troubles(notes, "entries left out for reasons like these")
    mended = _Troubles(notes, "entries with such values")
    sound: list[dict[str, Any]] = []
    records: set[int] = set()
    record = -1
    for position, entry in enumerate(entries):
        try:
            values = _kind_values(entry, present)
            numbers, troubles = _numbers(entry, present)
            # An entry without a number still has its place: the ring is written in order.
            record = record + 1 if numbers["record_id"] == NULL else numbers["record_id"]
            if record in records:
                raise Malformed(f"record {record} appears twice: the first one counts")
        except _BREAKS as error:
            broken.add(position, f"left out: {_reason(error)}")
            continue
        for trouble in troubles:
            mended.add(position, trouble)
        records.add(record)
        sound.append(values | numbers | {"record_id": record})
    broken.close()
    mended.close()
    return sound


def _kind_values(entry: Any, present: set[str]) -> dict[str, Any]:
    if type(entry) is not dict:
        raise Malformed(f"expected an entry, found {type(entry).__name__}")
    if "profiling_name" not in entry or ("process_group" not in entry and "pg_id" not in entry):
        raise Malformed("it names no operation or no group")
    values = {
        key: entry.get(key, default) for key, default in KIND_KEYS.items() if key in present or key == "state"
    }
    if "process_group" in values and values["process_group"] is None:
        values["process_group"] = (f"#{integer(entry.get('pg_id'))}", "")
    if "state" not in entry:
        values["state"] = "scheduled"
    # A throw-away interner: this is validation only, one entry at a time.
    parser(Interner(), list(values))(tuple(values.values()))
    duration = entry.get("duration_ms")
    if isinstance(duration, int | float):
        values["duration_ms"] = float(duration)
    return values


def _numbers(entry: dict[str, Any], present: set[str]) -> tuple[dict[str, int], list[str]]:
    """The entry's counters and times under their keys, and what of them had to be dropped."""
    numbers: dict[str, int] = {"record_id": NULL}
    troubles: list[str] = []
    for column in INTEGERS:
        key = key_of(column, present)
        if key is None:
            continue
        value = entry.get(key)
        if value is None and (column in TIMES or key not in entry):
            numbers[key] = NULL
        elif column in TIMES and integer(value) <= 0:
            numbers[key] = NULL
            if value:
                troubles.append(f"{key} is {value}, before 1970: taken as unknown")
        else:
            numbers[key] = integer(value)
    return numbers, troubles


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]!s:.60} is missing"
    return str(error) or type(error).__name__
