"""A file without a byte: worth a note where its name says that it should be a dump; and a log in which nobody spoke."""

from __future__ import annotations

import re
from pathlib import Path

from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.files.kind import FileKind, Sign
from rankandfile.evidence.flight.as_pickle import EMPTY
from rankandfile.evidence.raw import RawNote
from rankandfile.evidence.text.reading import read_log

#: Names that dumps have, and logs (which are often empty) have not.
_DUMP = re.compile(r"(trace|dump|rank[^/.]*[0-9])(?![^/]*\.(log|out|err|txt)$)[^/]*$", re.IGNORECASE)
_LOG = re.compile(r"rank[^/.]*[0-9][^/]*\.(log|out|err)$", re.IGNORECASE)


def decode(path: Path, name: str) -> Decoded:
    if _LOG.search(name):
        return read_log(path)
    return Decoded(notes=[RawNote("offset 0", EMPTY)] if _DUMP.search(name) else [])


KIND = FileKind("empty", (Sign(0, lambda head: not head.data),), decode)
