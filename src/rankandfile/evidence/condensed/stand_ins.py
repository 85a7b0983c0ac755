"""What stands for each file in the archive."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from rankandfile.evidence.files.blobs import Blob
from rankandfile.evidence.files.decoded import UNREAD, Decoded
from rankandfile.evidence.files.engine import Engine
from rankandfile.evidence.files.patience import Patience
from rankandfile.evidence.files.pool import Task
from rankandfile.evidence.files.sniff import signs
from rankandfile.evidence.load import OnProgress
from rankandfile.evidence.ring.sources import copies
from rankandfile.model.ledger import Note

from . import thin_logs
from .form import Document, written

#: Files that were not tried for want of time, or that a decoder could not cope with: whoever reads the archive may.
_NOT_DECODED = (UNREAD, "unreadable")
#: What of a process's memory says which process it was, and how it ended.
_OF_CORE = 4 << 20


class StandIns:
    """What stands for each file in the archive, by its number; nothing for a file that is no evidence."""

    def __init__(self, blobs: Sequence[Blob], spool: Path) -> None:
        self.contents: dict[int, Path] = {}
        self.dumps = 0
        self.tells = False
        """Something in them tells of a job."""
        self.notes: list[Note] = []
        """On files that stand for themselves, as they could not be read."""
        self._blobs, self._spool = blobs, spool
        self._copies = set(copies(blobs).values())
        self._large: dict[int, Decoded] = {}

    def document(self, name: str, document: Document) -> Path:
        """Where it lies now, under that name."""
        path = self._spool / f"small-{name}"
        path.write_bytes(written(document))
        return path

    def receive(self, on_progress: OnProgress | None) -> Callable[[int, Decoded], None]:
        done = 0

        def received(index: int, decoded: Decoded) -> None:
            nonlocal done
            done += 1
            self._take(index, decoded)
            if on_progress is not None:
                on_progress(done, len(self._blobs))

        return received

    def _take(self, index: int, decoded: Decoded) -> None:
        blob = self._blobs[index]
        self.tells = self.tells or _tells(decoded)
        if decoded.kind in _of_calls():
            # It brings the libraries of tables along: a node's logs alone need none.
            from .making import document

            self.contents[index] = self.document(str(index), document(decoded))
            self.dumps += bool(decoded.dumps)
        elif decoded.kind in _NOT_DECODED:
            there = os.access(blob.path, os.R_OK)
            self.contents[index] = (
                blob.path if there else self.document(str(index), Document(notes=decoded.notes))
            )
            self.notes += [Note(file=blob.source, where=note.where, what=note.what) for note in decoded.notes]
        elif decoded.kind in _evidence() or blob.path in self._copies:
            self.contents[index] = blob.path
            if blob.size > thin_logs.LARGE:
                self._large[index] = decoded

    def try_thin(self, engine: Engine, patience: Patience) -> None:
        """Take the smaller form of large files, where it says the same."""
        order, tasks = [], []
        for index, decoded in self._large.items():
            blob, into = self._blobs[index], self._spool / f"thin-{index}"
            # A log may be gone by now; then that is told where it is packed.
            with suppress(OSError):
                _begin(blob.path, into) if decoded.kind == "core" else thin_logs.thin(blob.path, into)
                order.append(index)
                tasks.append(Task(into, blob.source, into.stat().st_size))

        def tried(number: int, decoded: Decoded) -> None:
            index = order[number]
            if thin_logs.says_the_same(self._large[index], decoded):
                self.contents[index] = tasks[number].path
            elif self._large[index].kind == "core":
                # Gigabytes of a process's memory do not travel.
                del self.contents[index]

        engine.decode(tasks, tried, patience)


def _begin(core: Path, into: Path) -> None:
    with core.open("rb") as file:
        into.write_bytes(file.read(_OF_CORE))


def _tells(decoded: Decoded) -> bool:
    log = decoded.log
    said = log is not None and (log.packed or log.row.prefixes)
    return bool(decoded.dumps or decoded.stacks is not None or decoded.ends or said)


@cache
def _of_calls() -> frozenset[str]:
    return frozenset(kind.name for _, kind in signs() if kind.is_dump)


@cache
def _evidence() -> frozenset[str]:
    return frozenset(kind.name for _, kind in signs() if kind.decode is not None)
