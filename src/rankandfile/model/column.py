"""What one column of a table is called, holds and means, and what a row of one is to those who loop over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import polars as pl

Row: TypeAlias = dict[str, Any]
"""Column -> what stands there: which columns a table has, and of which type, is in `rankandfile.model.tables`."""
Fields: TypeAlias = dict[str, Any]
"""What else a line of a log tells, by the names that its shape gives."""


class Column(NamedTuple):
    name: str
    dtype: pl.DataType | type[pl.DataType]
    meaning: str
