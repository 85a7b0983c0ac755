"""What ranks did between two looks, as `raf run` writes it: `work.json`. A row is a fact about a process that lives."""

from __future__ import annotations

from pathlib import Path

import msgspec

from rankandfile.evidence.exits.documents import MOST
from rankandfile.evidence.exits.ends import End
from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.files.kind import FileKind, Head, Sign
from rankandfile.evidence.raw import RawNote
from rankandfile.model.work import WORK, Work


def recognise(head: Head) -> bool:
    return {"rank", "over_s", "main_s"} <= head.keys[1]


def decode(path: Path, name: str) -> Decoded:
    with path.open("rb") as file:
        data = file.read(MOST + 1)
    try:
        rows = msgspec.json.decode(data[:MOST], type=list[Work])
    except (msgspec.MsgspecError, RecursionError):
        return Decoded(notes=[RawNote("", "no list of what ranks did; not read")])
    return Decoded(
        ends=[
            End(source=name, kind=WORK, role="fact", rank=row.rank, error=msgspec.json.encode(row).decode())
            for row in rows
        ]
    )


KIND = FileKind("work", (Sign(165, recognise),), decode)
