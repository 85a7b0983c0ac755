"""Ranks that behave alike write dumps that are alike: byte for byte, but for counters and times.

Cost should follow behaviour, not ranks. From the first dump of a kind a *mould* is made: the stretch of entries in
which the recorder only refers back to what it wrote before, with the bytes of every counter and time masked. Where
another file's bytes are those of the mould in everything but the masked ones, its entries have the same values in
everything but their counters and times. So only the rest of that file, and one entry of each sort in the stretch,
need the unpickler; the numbers are taken from their known places.

Nothing is guessed: a file that differs in one other byte is read the ordinary way from there on, and what the
unmasked bytes refer back to (names, frames) is resolved by unpickling them in that file's own context.
"""

from __future__ import annotations

import pickletools
import re
from itertools import islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rankandfile.evidence.flight.entries import INTEGER_KEYS, TIMES
from rankandfile.evidence.flight.known_moulds import MIN_ENTRIES
from rankandfile.evidence.raw import NULL

Bytes = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int64]

#: Of the stretch, how much another file must share: a rank's last calls often differ.
MIN_SHARE = 0.5

#: How numbers are written: opcode, then so many bytes. None has none.
_NUMBER = rb"(?:(K)(.)|(M)(..)|(J)(....)|(\x8a\x08)(.{8})|(N))"
_FORMS: dict[bytes, tuple[int, str]] = {
    b"K": (1, "<u1"),
    b"M": (2, "<u2"),
    b"J": (4, "<i4"),
    b"\x8a\x08": (8, "<i8"),
}


_PUTS = {"BINPUT", "LONG_BINPUT", "PUT", "MEMOIZE"}


class Field(NamedTuple):
    """Where one column's numbers stand, for those entries in which they are written in one form."""

    entries: Offsets
    offsets: Offsets
    form: str


class Mould(NamedTuple):
    marker: bytes
    """What every entry begins with, once its first key has been named."""
    before: int
    """How many marked entries come before the stretch."""
    fixed: Bytes
    """The stretch, with the masked bytes zero."""
    mask: Bytes
    starts: Offsets
    """Where each entry of the stretch begins in it, and where the last one ends."""
    sort_of: Offsets
    """Which sort each entry is."""
    samples: list[int]
    """Of each sort, the first entry."""
    fields: dict[str, list[Field]]


class Cast(NamedTuple):
    """What fitted the mould in one file, and the rest of the file."""

    pickle: bytes
    """The file without the stretch, but with one entry of each sort in its place."""
    before: int
    """Entries before the stretch."""
    samples: list[int]
    """The entries of the stretch that stand in its place."""
    sort_of: Offsets
    columns: dict[str, Offsets]


def make(data: bytes, entries: int) -> Mould | None:
    """A mould from a whole dump of so many entries; None if it makes none."""
    key = _get_of(data, b"frames") or _get_of(data, b"record_id")
    if key is None or entries < MIN_ENTRIES:
        return None
    marker = b"}(" + key
    places = np.array([match.start() for match in re.finditer(re.escape(marker), data)], np.int64)
    if len(places) != entries - 1:
        return None  # the first entry names the key in full; every other one must be marked once
    text = data[places[0] : places[-1]]
    starts = places - places[0]
    fields = _fields(data, text, starts)
    if fields is None:
        return None
    mask = _mask(fields, len(text))
    fixed = np.frombuffer(text, np.uint8) & mask
    sort_of, samples = _sorts(fixed.tobytes(), starts)
    names = np.array([_names_something(text[starts[n] : starts[n + 1]]) for n in samples])
    first, last = _longest_run(~names[sort_of])
    if last - first < MIN_ENTRIES:
        return None
    a, b = int(starts[first]), int(starts[last])
    sort_of, samples = _sorts(fixed[a:b].tobytes(), starts[first : last + 1] - a)
    return Mould(
        marker=marker,
        before=first,
        fixed=fixed[a:b],
        mask=mask[a:b],
        starts=starts[first : last + 1] - a,
        sort_of=sort_of,
        samples=samples,
        fields={name: [_within(part, first, last, a) for part in parts] for name, parts in fields.items()},
    )


def _mask(fields: dict[str, list[Field]], size: int) -> Bytes:
    mask = np.full(size, 255, np.uint8)
    for parts in fields.values():
        for part in parts:
            for byte in range(np.dtype(part.form).itemsize):
                mask[part.offsets + byte] = 0
    return mask


def _sorts(fixed: bytes, starts: Offsets) -> tuple[Offsets, list[int]]:
    """Which sort each entry is, and the first entry of each sort."""
    sorts: dict[bytes, int] = {}
    samples: list[int] = []
    sort_of = np.empty(len(starts) - 1, np.int64)
    for entry in range(len(sort_of)):
        sort = sorts.setdefault(fixed[starts[entry] : starts[entry + 1]], len(samples))
        if sort == len(samples):
            samples.append(entry)
        sort_of[entry] = sort
    return sort_of, samples


def _names_something(entry: bytes) -> bool:
    """Whether an entry fills a memo slot, which later ones may refer back to."""
    return any(opcode.name in _PUTS for opcode, _, _ in pickletools.genops(entry + b"."))


def _longest_run(flags: npt.NDArray[np.bool_]) -> tuple[int, int]:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    if not len(edges):
        return 0, 0
    begins, ends = edges[::2], edges[1::2]
    longest = int((ends - begins).argmax())
    return int(begins[longest]), int(ends[longest])


def _within(part: Field, first: int, last: int, begin: int) -> Field:
    inside = (part.entries >= first) & (part.entries < last)
    return Field(part.entries[inside] - first, part.offsets[inside] - begin, part.form)


def _get_of(data: bytes, key: bytes) -> bytes | None:
    """The opcode and argument that refer back to a key, from where it is written in full."""
    named = data.find(b"X" + len(key).to_bytes(4, "little") + key)
    if named < 0:
        return None
    put = data[named + 5 + len(key) :][:5]
    if put[:1] == b"q":
        return b"h" + put[1:2]
    return b"j" + put[1:5] if put[:1] == b"r" else None


def _fields(data: bytes, stretch: bytes, offsets: Offsets) -> dict[str, list[Field]] | None:
    """Where each column's numbers stand; None unless every entry has each exactly once."""
    count = len(offsets) - 1
    found: dict[str, list[Field]] = {}
    for column, key in INTEGER_KEYS.items():
        get = _get_of(data, key.encode())
        if get is None:
            return None  # an older format, or one without this column: rare enough for the ordinary way
        places: dict[bytes, tuple[list[int], list[int]]] = {}
        entry = -1
        for match in re.finditer(re.escape(get) + _NUMBER, stretch, re.DOTALL):
            entry += 1
            if entry >= count or not offsets[entry] <= match.start() < offsets[entry + 1]:
                return None
            form = stretch[match.start() + len(get) : match.end()][: 2 if match[7] else 1]
            at = places.setdefault(form, ([], []))
            at[0].append(entry)
            at[1].append(match.start() + len(get) + len(form))
        if entry != count - 1:
            return None
        found[column] = [
            Field(np.array(entries, np.int64), np.array(where, np.int64), _FORMS[form][1])
            for form, (entries, where) in places.items()
            if form in _FORMS
        ]
    return found


def cast(data: bytes, mould: Mould) -> Cast | None:
    """What of a file fits the mould; None if too little does."""
    matches = islice(re.finditer(re.escape(mould.marker), data), mould.before, mould.before + 1)
    match = next(matches, None)
    if match is None:
        return None
    begin = match.start()
    stretch = np.frombuffer(data, np.uint8, offset=begin)[: len(mould.fixed)]
    # A look at one entry settles most misfits.
    one = int(mould.starts[1])
    if len(stretch) < one or not np.array_equal(stretch[:one] & mould.mask[:one], mould.fixed[:one]):
        return None
    size = len(stretch)
    differs = (stretch & mould.mask[:size]) != mould.fixed[:size]
    wrong = int(differs.argmax()) if differs.any() else size
    count = int(np.searchsorted(mould.starts, wrong, side="right")) - 1
    if count < MIN_SHARE * (len(mould.starts) - 1):
        return None
    sort_of = mould.sort_of[:count]
    used = [entry for entry in mould.samples if entry < count]
    pieces = [data[begin + int(mould.starts[n]) : begin + int(mould.starts[n + 1])] for n in used]
    rest = data[begin + int(mould.starts[count]) :]
    columns = {name: _column(stretch, parts, count) for name, parts in mould.fields.items()}
    if any(_out_of_range(name, values) for name, values in columns.items()):
        return None
    return Cast(data[:begin] + b"".join(pieces) + rest, mould.before + 1, used, sort_of, columns)


def _column(stretch: Bytes, parts: list[Field], count: int) -> Offsets:
    values = np.full(count, NULL, np.int64)
    for part in parts:
        within = part.entries < count
        entries, offsets = (
            (part.entries, part.offsets) if within.all() else (part.entries[within], part.offsets[within])
        )
        size = np.dtype(part.form).itemsize
        raw = stretch[offsets[:, None] + np.arange(size)]
        values[entries] = np.ascontiguousarray(raw).view(part.form)[:, 0]
    return values


def _out_of_range(name: str, values: Offsets) -> bool:
    """Numbers that the ordinary way would look at more closely."""
    known = values[values != NULL]
    if not len(known):
        return name not in TIMES
    low, high = int(known.min()), int(known.max())
    return high >= 1 << 62 or low < (0 if name in TIMES else -(1 << 62))
