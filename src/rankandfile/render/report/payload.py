"""The pictures as data inside the page: columns and numbers, every string once.

The cells of the score are apart from the rest, in blocks of rows. Only the first block stands before the script; the
others follow it, so that the page answers before it has been read to its end.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from rankandfile.model.pictures import Pictures, Sheet

from .words import visible

#: What could end the element that holds it, or open another.
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})

#: As many rows as a screen shows.
BLOCK = 32


class Block(Struct, frozen=True):
    """Rows of a sheet: a line of base64 for each."""

    id: str
    lines: str


def payload(pictures: Pictures) -> str:
    """JSON that can stand in a script element, whatever it holds: ASCII only, without angle brackets."""
    score = pictures.score
    data = {
        "kinds": msgspec.to_builtins(score.kinds),
        "frames": msgspec.to_builtins(score.frames),
        "block": BLOCK,
        "sheets": [_sheet(sheet) for sheet in score.sheets],
        "stands": msgspec.to_builtins(pictures.stacks.groups),
        "taken_from": pictures.stacks.taken_from,
    }
    text = json.dumps(_seen(data), ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.translate(_ESCAPES)


def blocks(pictures: Pictures) -> Iterator[Block]:
    """All cells, in the order in which they are looked at."""
    for number, sheet in enumerate(pictures.score.sheets):
        for first in range(0, len(sheet.tracks), BLOCK):
            rows = sheet.tracks[first : first + BLOCK]
            lines = (base64.b64encode(row.cells).decode("ascii") for row in rows)
            yield Block(f"cells-{number}-{first // BLOCK}", "\n".join(lines))


def _sheet(sheet: Sheet) -> dict[str, Any]:
    made: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(sheet, tracks=[]))
    for track in sheet.tracks:
        row = msgspec.to_builtins(msgspec.structs.replace(track, cells=b""))
        del row["cells"]
        made["tracks"].append({**row, "length": len(track.cells) // 2})
    return made


def _seen(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _seen(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        # The long columns are numbers: they are not looked into one by one.
        return value if value and isinstance(value[0], int) else [_seen(item) for item in value]
    return visible(value) if isinstance(value, str) else value
