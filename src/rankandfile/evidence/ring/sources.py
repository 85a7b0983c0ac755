"""The copies of source files that the recorder keeps beside its rings: packed, and named by their hash."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from rankandfile.evidence.files.blobs import Blob, shown
from rankandfile.model.ledger import Note
from rankandfile.model.sources import SourceFile

_COPY = re.compile(r"(?:^|[/!\\])raf-sources[/\\]([0-9a-f]{64})\.py\.zlib$")
#: The recorder keeps no larger file, and not so many of them.
LARGEST = 1 << 20
MOST = 2_000
MOST_BYTES = 64 << 20


def copies(blobs: Iterable[Blob]) -> dict[str, Path]:
    """Hash -> the file with the copy."""
    return {match[1]: blob.path for blob in blobs if (match := _COPY.search(blob.source)) is not None}


def sources(
    recorded: Iterable[tuple[str, str]], kept: Mapping[str, Path]
) -> tuple[tuple[SourceFile, ...], list[Note]]:
    """The files that ran, by what the rings say of them. A file that was not the same everywhere is left out, for it
    does not tell what a rank ran."""
    hashes: dict[str, set[str]] = {}
    for path, digest in recorded:
        if len(hashes) < MOST or path in hashes:
            hashes.setdefault(path, set()).add(digest)
    found, notes, room = [], [], MOST_BYTES
    for path, different in sorted(hashes.items()):
        if len(different) > 1:
            what = "the ranks ran different versions of this file"
            notes.append(Note(file=shown(path), where="", what=what))
            continue
        (digest,) = different
        data = _read(kept[digest], digest) if digest in kept and room > 0 else None
        room -= len(data or b"")
        found.append(SourceFile(shown(path), digest, data))
    return tuple(found), notes


def _read(path: Path, digest: str) -> bytes | None:
    """The copy, unpacked; None if it is not the file of that hash."""
    try:
        with path.open("rb") as file:
            data = zlib.decompressobj().decompress(file.read(2 * LARGEST), LARGEST)
    except (OSError, zlib.error):
        return None
    return data if hashlib.sha256(data).hexdigest() == digest else None
