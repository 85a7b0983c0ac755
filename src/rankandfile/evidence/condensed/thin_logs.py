"""A large log with its telling lines, its beginning and its end; of the lines between them only that they were there.

An empty line stands for each, so that every line has its number. Whether what is read of the log is still the same is
not argued but tried: it is read again, and stays as it was where that tells anything else.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from msgspec.structs import replace

from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.text.logs.needles import finder
from rankandfile.evidence.text.logs.raw import RawLog
from rankandfile.evidence.text.scan import Scan

#: Smaller ones are packed as they are.
LARGE = 1 << 20
#: Kept at each end, as bytes; and around a line that tells something, as lines.
_EDGE = 160 << 10
_BEFORE, _AFTER = 40, 200
#: Of a line without end, so much at a time.
_PIECE = 1 << 20


def thin(log: Path, into: Path) -> None:
    """Write the thin log. Raises OSError."""
    size = log.stat().st_size
    with log.open("rb") as file:
        spans = list(_spans(file, size))
    with log.open("rb") as file, into.open("wb") as out:
        _write(file, out, spans, size)


def says_the_same(one: Decoded, other: Decoded) -> bool:
    """But for places in bytes."""
    return (one.kind, one.dumps, one.notes, one.stacks, one.sources, one.ends) == (
        other.kind,
        other.dumps,
        other.notes,
        other.stacks,
        other.sources,
        other.ends,
    ) and _said(one.log) == _said(other.log)


def _said(log: RawLog | None) -> object:
    if log is None:
        return None
    columns = {name: values for name, values in log.columns.items() if name != "offset"}
    return replace(log.row, bytes=0), columns, log.notes, log.said, log.told


def _spans(file: BinaryIO, size: int) -> Iterator[tuple[int, int]]:
    """Runs of lines to keep: the first, and the one after the last."""
    first, end = 0, 0
    for line in Scan(file, finder(size)):
        if line.number - _BEFORE > end:
            yield first, end
            first = line.number - _BEFORE
        end = line.number + 1 + _AFTER
    yield first, end


def _write(file: BinaryIO, out: BinaryIO, spans: list[tuple[int, int]], size: int) -> None:
    left = iter(spans)
    first, end = next(left)
    number, at = 1, 0
    while piece := file.readline(_PIECE):
        while number >= end and (following := next(left, None)) is not None:
            first, end = following
        if first <= number < end or at < _EDGE or at + len(piece) > size - _EDGE:
            out.write(piece)
        elif piece.endswith(b"\n"):
            out.write(b"\n")
        at += len(piece)
        number += piece.endswith(b"\n")
