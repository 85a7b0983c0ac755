"""Dumps as the native reader hands them over. What it has no answer for, Python's reader reads, notes and all."""

from __future__ import annotations

from typing import Any

import msgspec

from rankandfile.evidence.files.blobs import shown
from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.flight import header
from rankandfile.evidence.flight.interning import Malformed, text
from rankandfile.evidence.flight.native import Answer
from rankandfile.evidence.raw import RawDump, RawNote, pack

#: What a string, a name or a number takes of an answer beside the columns, as the pool counts it.
_BESIDE = 64


class Told(msgspec.Struct, array_like=True):
    header: dict[str, Any]
    """The outermost dict without the entries; None for what is not read."""
    has_frames: bool
    groups: list[tuple[str, str]]
    threads: list[str]
    local_numbers: dict[str, int]
    doubtful: list[str]
    """Texts in the tables that only Python can tell to be printable."""


_told = msgspec.msgpack.Decoder(Told).decode


def decoded(answer: Answer) -> Decoded | None:
    """What the file holds, as `kinds/flight_pickle` would have it; None where a text is to be mended first."""
    calls, packed, repeats, (kinds, *integers, durations_ms), seconds = answer
    told = _told(packed)
    if not all(map(_is_sound, told.doubtful)):
        return None

    def fill(dump: RawDump, _notes: list[RawNote]) -> dict[str, int]:
        dump.calls, dump.has_frames = calls, told.has_frames
        dump.kinds, dump.integers, dump.durations_ms = kinds, integers, durations_ms
        dump.repeats, dump.groups, dump.threads = repeats, told.groups, told.threads
        return told.local_numbers

    dump, notes = header.with_calls(told.header, "pickle", fill)
    # Of the header what is kept: members are written one by one, and become a few runs.
    kept = pack((dump.config, dump.status, dump.groups, dump.threads))
    size = len(kept) + len(repeats) + len(kinds) + len(durations_ms) + sum(map(len, integers)) + _BESIDE
    notes = [RawNote(shown(note.where), shown(note.what)) for note in notes]
    return Decoded("flight_pickle", [dump], notes, seconds=seconds, bytes=size)


def _is_sound(value: str) -> bool:
    try:
        return text(value) == value
    except Malformed:
        return False
