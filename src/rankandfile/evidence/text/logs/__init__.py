"""Logs: who wrote what about the hang.

`read` makes columns of one file, in a decoding process; `rankandfile.evidence.text.logs.assemble.tables` makes a case's
tables of many. They are apart because the former must start quickly, and the latter needs Polars.
"""

from __future__ import annotations

from rankandfile.evidence.text.logs.raw import LogRow, RawLog
from rankandfile.evidence.text.logs.reading import read

__all__ = ["LogRow", "RawLog", "read"]
