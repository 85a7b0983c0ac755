"""What one column of a table is called, holds and means."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl


class Column(NamedTuple):
    name: str
    dtype: pl.DataType | type[pl.DataType]
    meaning: str
