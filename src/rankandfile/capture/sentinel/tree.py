"""Ranks that made the same calls are one row: of a node, of a job. What comes up the tree is compared by sums.

In: rows from below. Out: fewer rows, and where two rows of a group cannot be one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec import Struct

from rankandfile.capture.sentinel.history import KEPT_STEPS
from rankandfile.model.digest import Digest, Prefix, sums_at

#: Of a row, so many ranks are told by number: who is odd is few.
MOST_RANKS = 16


class Row(Struct, frozen=True, array_like=True):
    """Members of one group whose calls agree as far as each has come."""

    group: str
    base: int
    low: int
    """Number of the newest call of the one that is furthest behind, and of the one that is furthest ahead."""
    last: int
    count: int
    ranks: tuple[int, ...]
    """The lowest ones."""
    sums: tuple[Prefix, ...]
    """Ascending by number."""


@dataclass(frozen=True)
class RowDivergence:
    """Rows of one group that have made different calls."""

    group: str
    after: int
    """They agree up to this number, as far as the sums tell."""
    by: int
    """They differ up to this number."""
    rows: tuple[Row, ...]
    """The fewest ranks first."""


def rows_of(digests: Iterable[Digest]) -> list[Row]:
    """One per rank and group."""
    return [
        Row(one.group, one.base, one.last, one.last, 1, (digest.rank,), tuple(sums_at(one)))
        for digest in digests
        for one in digest.groups
        if one.last
    ]


def merged(rows: Iterable[Row]) -> list[Row]:
    """One row for all that agree."""
    found = []
    for same in _by_group(rows).values():
        found += [_one(part) for part in _cohorts(same)]
    return found


def row_divergences(rows: Iterable[Row]) -> list[RowDivergence]:
    """Groups whose rows are known to differ."""
    found = []
    for group, same in _by_group(rows).items():
        if len(same) < 2:
            continue
        parts = [_one(part) for part in _cohorts(same)]
        # Two without a number in common say nothing about each other.
        first = max(parts, key=lambda row: row.count)
        spans = [span for row in parts if row is not first and (span := _differ(first, row)) is not None]
        if spans:
            sides = sorted(
                (row for row in parts if row is first or _differ(first, row)), key=lambda r: r.count
            )
            found.append(
                RowDivergence(group, min(a for a, _ in spans), min(b for _, b in spans), tuple(sides))
            )
    return found


def _by_group(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.group, []).append(row)
    return found


def _cohorts(rows: Sequence[Row]) -> list[list[Row]]:
    """Those that agree, together; rows without a number in common stay apart."""
    if len(rows) == 1:
        return [list(rows)]
    known: list[tuple[int, dict[int, int], list[Row]]] = []
    for row in sorted(rows, key=lambda one: -one.last):
        for base, sums, part in known:
            if base == row.base and _agrees(row, sums):
                part.append(row)
                if row.sums[0].sequence not in sums or row.last not in sums:
                    sums.update((one.sequence, one.hash) for one in row.sums)
                break
        else:
            known.append((row.base, {one.sequence: one.hash for one in row.sums}, [row]))
    return [part for _, _, part in known]


def _agrees(row: Row, sums: dict[int, int]) -> bool:
    """By the newest number that both tell: equal sums there are equal calls up to there."""
    for one in reversed(row.sums):
        if one.sequence in sums:
            return sums[one.sequence] == one.hash
    return False


def _one(rows: Sequence[Row]) -> Row:
    if len(rows) == 1:
        return rows[0]
    low, last = min(row.low for row in rows), max(row.last for row in rows)
    sums = {one.sequence: one for row in rows for one in row.sums}
    wanted = {end - end % step - back * step for end in (low, last) for step in KEPT_STEPS for back in (0, 1)}
    ranks = sorted({rank for row in rows for rank in row.ranks})[:MOST_RANKS]
    kept = tuple(sums[number] for number in sorted(wanted & sums.keys()))
    return Row(rows[0].group, rows[0].base, low, last, sum(row.count for row in rows), tuple(ranks), kept)


def _differ(one: Row, other: Row) -> tuple[int, int] | None:
    """Between which two numbers the first difference lies; None where nothing shows one."""
    if one.base != other.base:
        return None
    told = {prefix.sequence: prefix.hash for prefix in one.sums}
    same, different = one.base, 0
    for prefix in other.sums:
        if prefix.sequence in told:
            if told[prefix.sequence] == prefix.hash:
                same = max(same, prefix.sequence)
            elif not different:
                different = prefix.sequence
    return (same, different) if different else None
