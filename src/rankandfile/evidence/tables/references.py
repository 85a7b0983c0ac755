"""Whether the numbers in a case's tables lead somewhere: a case directory may be a stranger's, or half copied."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

#: Tables whose rows others refer to, by the column that numbers them from 0.
_NUMBERED = {"groups": "group", "shapes": "shape", "stacks": "stack", "frames": "frame", "dumps": "dump"}

#: (table, column) -> the table whose rows it refers to.
_REFERENCES = {
    ("calls", "group"): "groups",
    ("calls", "shape"): "shapes",
    ("calls", "stack"): "stacks",
    ("calls", "site"): "frames",
    ("calls", "dump"): "dumps",
    ("stacks", "frames"): "frames",
    ("stacks", "site"): "frames",
    ("statuses", "group"): "groups",
    ("statuses", "dump"): "dumps",
}


def broken_reference(tables: Mapping[str, pl.DataFrame]) -> str | None:
    """What leads nowhere, in words; None if all is well."""
    for table, column in _NUMBERED.items():
        numbers = tables[table][column]
        if not numbers.equals(pl.Series(column, range(len(numbers)), dtype=numbers.dtype)):
            return f"{table}.{column} does not number its rows"
    for (table, column), target in _REFERENCES.items():
        numbers = tables[table][column]
        if isinstance(numbers.dtype, pl.List):
            numbers = numbers.explode()
        greatest = numbers.max()
        if isinstance(greatest, int) and greatest >= tables[target].height:
            return f"{table}.{column} refers to row {greatest} of {target}, which has {tables[target].height}"
    return None
