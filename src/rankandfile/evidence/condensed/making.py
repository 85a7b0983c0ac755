"""From what a dump was decoded to, to the document that stands for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.raw import INTEGERS, NULL, RawDump, Shape, unpack_shape
from rankandfile.evidence.tables.part import Integers, Part

from .form import UNIT_NS, Document, Dump, Group, Sparse
from .stood import stood
from .times import Mask, exact, whole

#: Columns that count, each within its group.
COUNTERS = INTEGERS[:4]


def document(decoded: Decoded) -> Document:
    """All that the file yielded, if it is of a kind that becomes calls."""
    return Document(
        dumps=[_dump(raw) for raw in decoded.dumps],
        notes=decoded.notes,
        stood=[] if decoded.stacks is None else stood(decoded.stacks),
        sources=decoded.sources,
    )


def _dump(raw: RawDump) -> Dump:
    found = Dump(
        format=raw.format,
        version=raw.version,
        library=raw.library,
        rank=raw.rank,
        truncated=raw.truncated,
        has_frames=raw.has_frames,
        left_out=raw.left_out,
        groups=raw.groups,
        config=[Group(one.name, one.desc, one.runs) for one in raw.config],
        status=raw.status,
        threads=raw.threads,
    )
    if raw.calls:
        _add_calls(found, Part(raw, ""))
    return found


def _add_calls(found: Dump, part: Part) -> None:
    repeats = part.repeats
    found.frames, found.kinds = repeats.frames, repeats.kinds
    found.stacks = [list(stack) for stack in repeats.stacks]
    found.shapes = [_shape(packed) for packed in repeats.shapes]
    found.calls = part.kind_of_calls.tolist()
    groups = [repeats.kinds[kind].group for kind in found.calls]
    # The native reader's columns are narrower.
    columns = {name: part.column(name).astype(np.int64) for name in COUNTERS}
    found.numbers = {
        name: _above_its_group(values.tolist(), groups)
        for name, values in columns.items()
        if (values != NULL).any()
    }
    made = part.column("created_ns").astype(np.int64)
    if (made != NULL).any():
        found.made = _above_the_last(np.where(made == NULL, NULL, made // UNIT_NS))
        found.rest_ns = _sparse(made % UNIT_NS, exact(part, made) & (made != NULL))
    kept = whole(part)
    for name in ("started_ns", "completed_ns"):
        values = part.column(name).astype(np.int64)
        setattr(found, name, _sparse(values, kept & (values != NULL)))
    found.durations_ms = _durations(part.raw, kept)


def _shape(packed: bytes) -> Shape:
    return unpack_shape(packed)


def _above_its_group(values: Sequence[int], groups: Sequence[int]) -> list[int | None]:
    last: dict[int, int] = {}
    found: list[int | None] = []
    for value, group in zip(values, groups, strict=True):
        if value == NULL:
            found.append(None)
        else:
            found.append(value - last.get(group, 0))
            last[group] = value
    return found


def _above_the_last(values: Integers) -> list[int | None]:
    return _above_its_group(values.tolist(), [0] * len(values))


def _sparse(values: Integers, kept: Mask) -> Sparse:
    places = np.flatnonzero(kept)
    return Sparse(np.diff(places, prepend=0).tolist(), values[places].tolist())


def _durations(raw: RawDump, kept: Mask) -> list[tuple[int, float]]:
    """That a recorder took them tells what its states mean, so that there is one even if no call has any."""
    if not raw.durations_ms:
        return []
    values = np.frombuffer(raw.durations_ms)
    places = np.flatnonzero(kept & ~np.isnan(values)).tolist() or [raw.calls - 1]
    return [(at, float(values[at])) for at in places]
