"""Calls as a grid of ranks and numbers, and its rows merged: ranks that look alike share one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from rankandfile.model.pictures import Role
from rankandfile.reason.divergence.row_weights import row_weights

Cells = npt.NDArray[np.uint16]

_MOST_CELLS = 16_000_000
"""Of the grid while it is made; two bytes each."""
_MOST_KEPT = 2_100_000
"""Of the rows that are left: 1,024 rows of 2,000 calls, and some."""
_FEWEST_COLUMNS = 400
_MOST_COLUMNS = 20_000
_BEFORE = 200
"""Columns to keep before the divergence, where not all can be kept."""
MOST_ROWS = 1024
_NEAR = 48


class Window(Struct, frozen=True):
    first: int
    columns: int
    earlier: int
    later: int


class GridRow(Struct, frozen=True):
    ranks: tuple[int, ...]
    role: Role
    cells: Cells
    alike: bool


def window(low: int, high: int, ranks: int, diverged_at: int | None) -> Window:
    """The numbers from low to high, or as many of them as can be shown: the last ones, and where they diverged."""
    most = min(_MOST_COLUMNS, max(_FEWEST_COLUMNS, _MOST_CELLS // max(1, ranks)))
    return _narrow(low, high, most, diverged_at)


def _narrow(low: int, high: int, most: int, diverged_at: int | None) -> Window:
    if high - low < most:
        return Window(low, high - low + 1, 0, 0)
    first = high - most + 1
    if diverged_at is not None and diverged_at - _BEFORE < first:
        first = max(low, diverged_at - _BEFORE)
    return Window(first, most, first - low, max(0, high - first - most + 1))


def fill(
    at: Window, ranks: int, row: npt.NDArray[np.int64], number: npt.NDArray[np.int64], cell: Cells
) -> Cells:
    """The grid of so many ranks, from calls that lie in the window."""
    grid = np.zeros((ranks, at.columns), np.uint16)
    grid[row, number - at.first] = cell
    return grid


def merged(
    ranks: npt.NDArray[np.int64], grid: Cells, roles: list[Role], focus: int | None
) -> tuple[list[GridRow], int]:
    """Rows of the grid, culprits first, then the largest, and how many ranks found no place.

    Where too many ranks differ, those that look alike around the focus share a row, and where even these are too
    many, those that end alike.
    """
    columns = grid.shape[1]
    ends = np.where(grid.any(axis=1), columns - np.argmax(grid[:, ::-1] > 0, axis=1), 0) if columns else None
    spread = [grid]
    if columns:
        middle = min(max(focus if focus is not None else columns - 1, 0), columns - 1)
        spread.append(grid[:, max(0, middle - _NEAR) : middle + _NEAR])
        assert ends is not None
        spread.append(grid[np.arange(len(ranks)), np.maximum(ends - 1, 0)][:, None])
    rows: list[GridRow] = []
    for part in spread:
        rows = _rows(ranks, grid, part, roles)
        if len(rows) <= MOST_ROWS:
            break
    rows.sort(key=lambda row: (row.role != "culprit", -len(row.ranks), row.ranks))
    kept = rows[:MOST_ROWS]
    return kept, sum(len(row.ranks) for row in rows[MOST_ROWS:])


def _rows(ranks: npt.NDArray[np.int64], grid: Cells, part: Cells, roles: list[Role]) -> list[GridRow]:
    weights = row_weights(part.shape[1])
    digest = np.empty(len(ranks), np.uint64)
    with np.errstate(over="ignore"):
        for start in range(0, len(ranks), 256):
            block = part[start : start + 256].astype(np.uint64) + np.uint64(1)
            digest[start : start + 256] = (block * block * weights).sum(axis=1, dtype=np.uint64)
    same: dict[tuple[int, Role], list[int]] = {}
    for i, key in enumerate(zip(digest.tolist(), roles, strict=True)):
        same.setdefault(key, []).append(i)
    out = []
    for (_, role), members in same.items():
        alike = part is grid or bool((grid[members] == grid[members[0]]).all())
        out.append(GridRow(tuple(int(ranks[i]) for i in members), role, grid[members[0]], alike))
    return out


def cut_to_size(rows: list[GridRow], at: Window, diverged_at: int | None) -> tuple[list[GridRow], Window]:
    """Fewer columns, where the rows together are more than a page should carry."""
    most = max(_FEWEST_COLUMNS, _MOST_KEPT // max(1, len(rows)))
    if at.columns <= most:
        return rows, at
    to = _narrow(at.first, at.first + at.columns - 1, most, diverged_at)
    start = to.first - at.first
    cut = [GridRow(r.ranks, r.role, r.cells[start : start + to.columns], r.alike) for r in rows]
    return cut, Window(to.first, to.columns, at.earlier + to.earlier, at.later + to.later)
