"""The lines around a fact, where its file lies on this machine as it is: not in an archive, not compressed."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rankandfile.model.ledger import Evidence

_LINE = re.compile(r"line (\d+)$")
_MOST_BYTES = 256 << 20
_MOST_OF_A_LINE = 2000


class Line(NamedTuple):
    number: int
    text: str
    here: bool
    """It is the line that is cited."""


def context(fact: Evidence, around: int) -> list[Line]:
    """None for what is no line of a text file, or whose file is not at hand or has changed since."""
    found = _LINE.match(fact.where)
    if found is None or "!/" in fact.source:
        return []
    cited = int(found[1])
    first = max(1, cited - around)
    path = Path(fact.source)
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return []
        with path.open("rb") as file:
            if b"\0" in file.read(512):
                return []
            file.seek(0)
            # A line longer than is kept is read in pieces, and counts once.
            raw = [line[:_MOST_OF_A_LINE] for line in islice(file, first - 1, cited + around)]
    except OSError:
        return []
    lines = [
        Line(number, text.decode("utf-8", "replace").rstrip("\r\n"), number == cited)
        for number, text in enumerate(raw, first)
    ]
    return lines if any(line.here for line in lines) else []
