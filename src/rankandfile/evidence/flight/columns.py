"""Entries of a flight recorder as columns, without touching most of them one by one.

A well-formed dump goes through C-speed passes only. The first value that breaks a promise of the format sends
the dump through `repair`, which looks at every entry, keeps what is sound, and says what was not.
"""

from __future__ import annotations

from array import array
from operator import itemgetter
from typing import Any

from rankandfile.evidence.flight.entries import ALWAYS, KIND_KEYS, TIMES, key_of, parser
from rankandfile.evidence.flight.interning import Interner, Malformed, TooVaried
from rankandfile.evidence.flight.repair import repair
from rankandfile.evidence.raw import INTEGERS, NULL, RawDump, RawNote, pack

#: What a value of a wrong type or size raises on its way into a column.
_BREAKS = (KeyError, TypeError, ValueError, OverflowError, RecursionError)


def fill(dump: RawDump, entries: list[Any], notes: list[RawNote]) -> dict[str, int]:
    """Put the calls of `entries` into `dump`; report in `notes` what could not be kept.

    Returns which of `dump.groups` the process's own group numbers stand for. They differ between ranks, so
    they serve for reading the rest of this dump and for nothing else.
    """
    kept = entries
    while kept:
        try:
            local_numbers = _fill_sound(dump, kept, notes)
        except TooVaried:
            # The newest calls tell of the hang.
            kept = kept[len(kept) // 2 + 1 :]
            continue
        if len(kept) < len(entries):
            dump.left_out += len(entries) - len(kept)
            what = (
                f"more different stacks or sizes than a job has: the newest {len(kept):,} entries were kept"
            )
            notes.append(RawNote("", f"{what}, {len(entries) - len(kept):,} before them were not"))
        return local_numbers
    return {}


def _fill_sound(dump: RawDump, entries: list[Any], notes: list[RawNote]) -> dict[str, int]:
    try:
        return _fill(dump, entries, trusted=False)
    except (Malformed, *_BREAKS):
        sound = repair(entries, notes)
        dump.left_out = len(entries) - len(sound)
        return _fill(dump, sound, trusted=True) if sound else {}


def _fill(dump: RawDump, entries: list[Any], trusted: bool) -> dict[str, int]:
    first = entries[0]
    interner = Interner()
    keys = [key for key in KIND_KEYS if key in first]
    kinds = interner.numbers(map(itemgetter(*keys), entries), parser(interner, keys))
    timed = _timed(entries)
    columns = [_integers(entries, column, trusted) for column in INTEGERS]
    dump.calls = len(entries)
    dump.has_frames = "frames" in first
    dump.kinds = kinds.tobytes()
    dump.integers = [column.tobytes() for column in columns]
    dump.durations_ms = _durations(entries) if timed else b""
    dump.repeats = pack(interner.repeats)
    dump.groups = [(name, desc) for name, desc, _ in interner.groups]
    dump.threads = list(interner.threads)
    return interner.local_numbers


def _integers(entries: list[Any], column: str, trusted: bool) -> array[int]:
    key = key_of(column, entries[0])
    if key is None:
        if not trusted and column in ALWAYS:
            raise Malformed(f"{column} is missing")
        return array("q", [NULL]) * len(entries)
    values = list(map(itemgetter(key), entries))
    if trusted:
        return array("q", values)
    if column in TIMES:
        if min(filter(None, values), default=0) < 0:
            raise Malformed("a time before 1970")
        # JSON writes 0 where the pickle has None; no clock reads 0.
        return array("q", [value or NULL for value in values])
    numbers = array("q", values)
    if column == "record" and len(set(numbers)) < len(numbers):
        raise Malformed("a record number that appears twice")
    return numbers


def _timed(entries: list[Any]) -> bool:
    """Whether calls have durations. They are written only where timing is on, and only for calls that ended."""
    if len(set(map(len, entries))) == 1:
        return "duration_ms" in entries[0]
    if len({len(entry) - ("duration_ms" in entry) for entry in entries}) > 1:
        raise Malformed("entries differ in their keys")
    return True


def _durations(entries: list[Any]) -> bytes:
    nan = float("nan")
    return array("d", [entry.get("duration_ms", nan) for entry in entries]).tobytes()
