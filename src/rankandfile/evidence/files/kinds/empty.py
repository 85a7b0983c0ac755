"""A file without a byte: worth a note where its name says that it should be a dump."""

from __future__ import annotations

import re
from pathlib import Path

from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.files.kind import FileKind, Sign
from rankandfile.evidence.flight.as_pickle import EMPTY
from rankandfile.evidence.raw import RawNote

#: Names that dumps have, and logs (which are often empty) have not.
_DUMP = re.compile(r"(trace|dump|rank[^/.]*[0-9])(?![^/]*\.(log|out|err|txt)$)[^/]*$", re.IGNORECASE)


def decode(_path: Path, name: str) -> Decoded:
    return Decoded(notes=[RawNote("offset 0", EMPTY)] if _DUMP.search(name) else [])


KIND = FileKind("empty", (Sign(0, lambda head: not head.data),), decode)
