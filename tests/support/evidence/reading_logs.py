"""Read invented text as a file would be read; rows as dictionaries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rankandfile.evidence.text.logs.raw import COLUMNS, RawLog, pack, unpack
from rankandfile.evidence.text.reading import read_log

Row = dict[str, Any]


def log_of(folder: Path, text: str | bytes, name: str = "job.log") -> RawLog:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    found = read_log(path).log
    assert found is not None
    # As it comes out of a decoding process.
    return unpack(pack(found))


def rows_of(log: RawLog) -> list[Row]:
    rows = [dict(zip(COLUMNS, values, strict=True)) for values in zip(*log.columns.values(), strict=True)]
    for row in rows:
        row["fields"] = json.loads(row["fields"] or "{}")
    return rows


#: What the end of a log tells as a whole, beside what its lines say.
OF_THE_END = ("progress", "last_said")


def events_of(folder: Path, text: str | bytes) -> list[Row]:
    return [row for row in rows_of(log_of(folder, text)) if row["kind"] not in OF_THE_END]


def kinds_of(rows: list[Row]) -> list[str]:
    return [row["kind"] for row in rows]
