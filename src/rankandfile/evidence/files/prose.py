"""Pages of prose in a folder: what they quote of logs is no evidence of a job.

A note or an issue that lies beside a job's files is some of what is left of it, and is read. Where there are more pages
than that, they are a documentation, whose logs are examples.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rankandfile.model.ledger import Note

from .blobs import Blob

SUFFIXES = (".md", ".markdown", ".mdx", ".rst")
#: So many are notes.
_MOST_NOTES = 3


def without_prose(blobs: Sequence[Blob], named: Iterable[Path]) -> tuple[list[Blob], list[Note]]:
    """The files to be read, and what is said of the pages that are not. One that was named itself is read."""
    asked = {str(path) for path in named}
    pages = [
        one
        for one in blobs
        if one.source.lower().endswith(SUFFIXES) and not asked & {one.source, str(one.path)}
    ]
    if len(pages) <= _MOST_NOTES:
        return [*blobs], []
    left = {one.source for one in pages}
    what = f"a page of prose, as {len(pages) - 1:,} others are: not read, unless it is named itself"
    return [one for one in blobs if one.source not in left], [Note(file=pages[0].source, where="", what=what)]
