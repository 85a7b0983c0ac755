"""From what lies on a node to one small archive that gives the same answer."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct

from rankandfile.evidence.files.blobs import Blob
from rankandfile.evidence.files.decoded import UNREAD, Decoded
from rankandfile.evidence.files.expansion_budget import ExpansionBudget
from rankandfile.evidence.files.limits import Limits
from rankandfile.evidence.files.patience import Patience
from rankandfile.evidence.files.pool import Task
from rankandfile.evidence.files.sniff import signs
from rankandfile.evidence.files.walk import walk
from rankandfile.evidence.load import OnProgress, decode_each
from rankandfile.evidence.raw import RawNote
from rankandfile.evidence.ring.sources import copies
from rankandfile.model.ledger import Note

from . import thin_logs
from .archive import archive, names
from .form import Document, written

#: Files that were not tried, or could not be read: what there is to say of them is all that travels.
_NOTHING_BUT_NOTES = (UNREAD, "unreadable")
#: What of a process's memory says which process it was, and how it ended.
_OF_CORE = 4 << 20
#: The member with notes on files that were not taken.
_NOT_TAKEN = "not-taken"


class Condensed(Struct, frozen=True, kw_only=True):
    """What went into the archive."""

    dumps: int
    files: int
    left_out: int
    """Files that are no evidence."""
    before: int
    """Bytes of all that went in."""
    after: int
    notes: list[Note]


def condense(
    paths: Sequence[Path],
    output: Path,
    limits: Limits,
    jobs: int | None = None,
    on_progress: OnProgress | None = None,
) -> Condensed:
    """Write the archive; nothing of it where there is no evidence. It appears whole or not at all. Raises OSError."""
    patience = Patience(limits.seconds)
    with tempfile.TemporaryDirectory(prefix="raf-") as spool:
        found, notes = walk(paths, Path(spool), limits, patience)
        own = output.stat() if output.exists() else None
        blobs = [blob for blob in found if own is None or not _is(blob.source.partition("!/")[0], own)]
        small = _Small(blobs, Path(spool))
        tasks = [Task(blob.path, blob.source, blob.size, limits.dump_bytes) for blob in blobs]
        decode_each(tasks, small.receive(on_progress), jobs, patience)
        small.try_thin(jobs, patience)
        kept = [
            (blob, name, small.contents[index])
            for index, (blob, name) in enumerate(zip(blobs, names(blobs, paths), strict=True))
            if index in small.contents
        ]
        after = _write(output, kept, notes, limits) if kept else 0
    return Condensed(
        dumps=small.dumps,
        files=len(kept),
        left_out=len(blobs) - len(kept),
        before=sum(blob.size for blob, _, _ in kept),
        after=after,
        notes=notes,
    )


def _is(path: str, output: os.stat_result) -> bool:
    """Whether it is the archive itself, of an earlier time: what it holds lies beside it."""
    try:
        return os.path.samestat(os.stat(path), output)  # noqa: PTH116 - there may be a hundred thousand
    except OSError:
        return False


def _write(
    output: Path, kept: Sequence[tuple[Blob, str, bytes | Path]], notes: Sequence[Note], limits: Limits
) -> int:
    with tempfile.TemporaryDirectory(prefix="raf-condense-", dir=output.parent) as folder:
        part = Path(folder) / "part"
        whole = _fill(part, kept, notes, packed=True)
        if whole > ExpansionBudget(limits, Path(folder)).allowance(part.stat().st_size):
            # Nobody would read it: so small become only bombs, and logs that say one thing over and over.
            _fill(part, kept, notes, packed=False)
        part.replace(output)
        return output.stat().st_size


def _fill(
    part: Path, kept: Sequence[tuple[Blob, str, bytes | Path]], notes: Sequence[Note], *, packed: bool
) -> int:
    with archive(part, packed=packed) as into:
        for blob, name, content in kept:
            into.add(name, blob.written_ns, content)
        if notes:
            # What was not taken is not taken when the archive is read, either: it says so then.
            into.add(_NOT_TAKEN, 0, written(Document(notes=[_told(note) for note in notes])))
    return into.bytes


def _told(note: Note) -> RawNote:
    return RawNote(note.file, f"{note.where}: {note.what}" if note.where else note.what)


class _Small:
    """What stands for each file in the archive, by its number; nothing for a file that is no evidence."""

    def __init__(self, blobs: Sequence[Blob], spool: Path) -> None:
        self.contents: dict[int, bytes | Path] = {}
        self.dumps = 0
        self._blobs, self._spool = blobs, spool
        self._copies = set(copies(blobs).values())
        self._large: dict[int, Decoded] = {}

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
        if decoded.kind in _of_calls():
            # It brings the libraries of tables along: a node's logs alone need none.
            from .making import document

            self.contents[index] = written(document(decoded))
            self.dumps += bool(decoded.dumps)
        elif decoded.kind in _NOTHING_BUT_NOTES:
            self.contents[index] = written(Document(notes=decoded.notes))
        elif decoded.kind in _evidence() or blob.path in self._copies:
            self.contents[index] = blob.path
            if blob.size > thin_logs.LARGE:
                self._large[index] = decoded

    def try_thin(self, jobs: int | None, patience: Patience) -> None:
        """Take the smaller form of large files, where it says the same."""
        order = list(self._large)
        smaller = [self._spool / f"thin-{index}" for index in order]
        for index, into in zip(order, smaller, strict=True):
            if self._large[index].kind == "core":
                with self._blobs[index].path.open("rb") as file:
                    into.write_bytes(file.read(_OF_CORE))
            else:
                thin_logs.thin(self._blobs[index].path, into)

        def tried(number: int, decoded: Decoded) -> None:
            index = order[number]
            same = thin_logs.says_the_same(self._large[index], decoded)
            if same:
                self.contents[index] = smaller[number]
            elif decoded.kind == "core":
                del self.contents[index]

        tasks = [
            Task(path, self._blobs[index].source, path.stat().st_size)
            for index, path in zip(order, smaller, strict=True)
        ]
        decode_each(tasks, tried, jobs, patience)


@cache
def _of_calls() -> frozenset[str]:
    return frozenset(kind.name for _, kind in signs() if kind.is_dump)


@cache
def _evidence() -> frozenset[str]:
    return frozenset(kind.name for _, kind in signs() if kind.decode is not None)
