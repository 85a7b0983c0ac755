"""A dump, or a ring, as `raf condense` writes it."""

from __future__ import annotations

from pathlib import Path

from rankandfile.evidence.condensed.form import SIGN
from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.files.kind import FileKind, Sign


def decode(path: Path, _name: str) -> Decoded:
    # What takes a dump apart is loaded when there is one.
    from rankandfile.evidence.condensed.reading import read

    return read(path.read_bytes())


KIND = FileKind("condensed_dump", (Sign(15, lambda head: head.data.startswith(SIGN)),), decode, is_dump=True)
