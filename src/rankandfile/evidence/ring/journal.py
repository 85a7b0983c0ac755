"""What a ring holds beyond the calls of a dump: steps, decisions, reductions, CUDA graphs, and the rolling hash.

The hash of a group sums up its calls so far; two ranks that have done alike have the same one at the same number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rankandfile.wire import flight, layout, reading
from rankandfile.wire.reading import Contents

LARGEST = 256 << 20


class JournalRow(NamedTuple):
    number: int
    time_ns: int
    kind: str
    """call, captured, step, or the kind of a decision."""
    text: str
    group: str
    seq: int
    reduction: str
    step: str
    site: str
    hash: int
    """0 where there is none."""


class Journal(NamedTuple):
    rank: int
    host: str
    attempt: int
    writer: int
    """Hashes of different writers cannot be compared."""
    rows: list[JournalRow]


class HistoryDivergence(NamedTuple):
    """The first numbers at which two ranks of a group had done different things."""

    group: str
    seq: int
    one: tuple[int, JournalRow]
    other: tuple[int, JournalRow]


def read(path: Path) -> Journal | str:
    """The ring's rows in their order, or why it cannot be read. Raises OSError."""
    with path.open("rb") as file:
        contents = reading.read(file.read(LARGEST))
    if isinstance(contents, str):
        return contents
    header = contents.header
    host = header.host.split(b"\0")[0].decode("utf-8", "replace")
    return Journal(header.rank, host, header.attempt, header.writer, _rows(contents))


def _rows(contents: Contents) -> list[JournalRow]:
    rows = []
    for kept in contents.records:
        record = kept.record
        if record.kind == layout.CALL:
            group = _words(contents, layout.GROUP, record.group)
            kind = "captured" if record.flags & layout.CAPTURED else "call"
            text = flight.name(record.op, -1, record.peer) or "an operator of a later version"
            named = group[0] if len(group) < 2 or not group[1] else f"{group[0]} ({group[1]})"
        elif record.kind == layout.STEP:
            named, kind, text = "", "step", " ".join(_words(contents, layout.TEXT, record.in_elements))
        elif record.kind == layout.DECISION:
            words = _words(contents, layout.TEXT, record.in_elements)
            named, kind, text = "", words[0], " ".join(words[1:])
        else:
            continue
        reduction = layout.REDUCTIONS[record.reduce_op] if record.reduce_op < len(layout.REDUCTIONS) else "?"
        step = "".join(_words(contents, layout.TEXT, record.step)) if record.step else ""
        rows.append(
            JournalRow(
                record.number, record.wall_ns, kind, text, named, record.seq, reduction, step,
                _site(contents, record.site), record.hash,
            )
        )  # fmt: skip
    return rows


def _words(contents: Contents, kind: bytes, number: int) -> list[str]:
    row = contents.table.get(kind, {}).get(number) or ["?"]
    return [str(word) for word in row]


def _site(contents: Contents, number: int) -> str:
    row: Sequence[Any] = contents.table.get(layout.FRAME, {}).get(number) or ()
    return f"{row[1]}:{row[2]}" if len(row) == 3 else ""


def history_divergences(journals: Iterable[Journal]) -> list[HistoryDivergence]:
    """Per group, where a rank's history first differs from that of the lowest rank that has the same numbers."""
    first: dict[tuple[str, int, int], dict[int, tuple[int, JournalRow]]] = {}
    found: dict[str, HistoryDivergence] = {}
    for journal in sorted(journals, key=lambda one: one.rank):
        for row in journal.rows:
            if not row.hash:
                continue
            seen = first.setdefault((row.group, journal.attempt, journal.writer), {})
            rank, other = seen.setdefault(row.seq, (journal.rank, row))
            before = found.get(row.group)
            if other.hash != row.hash and (before is None or row.seq < before.seq):
                found[row.group] = HistoryDivergence(row.group, row.seq, (rank, other), (journal.rank, row))
    return [found[group] for group in sorted(found)]
