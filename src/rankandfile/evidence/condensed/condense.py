"""From what lies on a node to one small archive that gives the same answer."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from rankandfile.evidence.files.engine import HERE, Engine
from rankandfile.evidence.files.expansion_budget import ExpansionBudget
from rankandfile.evidence.files.limits import Limits
from rankandfile.evidence.files.patience import Patience
from rankandfile.evidence.files.pool import Task
from rankandfile.evidence.files.walk import walk
from rankandfile.evidence.load import OnProgress
from rankandfile.evidence.objects.at_hand import at_hand
from rankandfile.evidence.owners.owner_by_path import whose
from rankandfile.evidence.raw import RawNote
from rankandfile.model.ledger import Note

from .archive import archive, names
from .form import Document
from .stand_ins import StandIns

#: The member with notes on files that were not taken.
_NOT_TAKEN = "not-taken"


_Kept = tuple[str, int, Path]
"""What a file is called in the archive, when it was written, and where that lies which stands for it."""


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
    engine: Engine = HERE,
    on_progress: OnProgress | None = None,
) -> Condensed:
    """Write the archive; nothing of it where there is no evidence. It appears whole or not at all. Raises OSError."""
    # All is copied: what is not condensed is packed as it is.
    with at_hand(paths, limits) as copied, tempfile.TemporaryDirectory(prefix="raf-") as spool:
        patience = Patience(limits.seconds)
        found, notes = walk(copied.paths, Path(spool), limits, patience, copied.called)
        notes = [*copied.notes, *notes]
        own = output.stat() if output.exists() else None
        blobs = [blob for blob in found if own is None or not _is(blob.source.partition("!/")[0], own)]
        small = StandIns(blobs, Path(spool))
        tasks = [Task(blob.path, blob.source, blob.size, limits.dump_bytes) for blob in blobs]
        engine.decode(tasks, small.receive(on_progress), patience)
        small.try_thin(engine, patience)
        kept = [
            (name, blob.written_ns, small.contents[index])
            for index, (blob, name) in enumerate(zip(blobs, names(blobs, copied), strict=True))
            if index in small.contents
        ]
        # Of a log in which nobody complains, its name may say whose it is.
        if not small.tells and all(
            owner.rank is None for owner in whose([one[0] for one in kept], lone=False)
        ):
            kept = []
        if kept and notes:
            # What was not taken is not taken when the archive is read, either: it says so then.
            told = small.document("notes", Document(notes=[_told(note) for note in notes]))
            _write(output, [*kept, (_NOT_TAKEN, 0, told)], limits)
        elif kept:
            _write(output, kept, limits)
    return Condensed(
        dumps=small.dumps,
        files=len(kept),
        left_out=len(blobs) - len(kept),
        before=sum(blobs[index].size for index in small.contents),
        after=output.stat().st_size if kept else 0,
        notes=[*notes, *small.notes],
    )


def _is(path: str, output: os.stat_result) -> bool:
    """Whether it is the archive itself, of an earlier time: what it holds lies beside it."""
    try:
        return os.path.samestat(os.stat(path), output)  # noqa: PTH116 - there may be a hundred thousand
    except OSError:
        return False


def _write(output: Path, kept: Sequence[_Kept], limits: Limits) -> None:
    with tempfile.TemporaryDirectory(prefix="raf-condense-", dir=output.parent) as folder:
        part = Path(folder) / "part"
        whole = _fill(part, kept, packed=True)
        if whole > ExpansionBudget(limits, Path(folder)).allowance(part.stat().st_size):
            # Nobody would read it: so small become only bombs, and logs that say one thing over and over.
            _fill(part, kept, packed=False)
        part.replace(output)


def _fill(part: Path, kept: Sequence[_Kept], *, packed: bool) -> int:
    with archive(part, packed=packed) as into:
        for name, written_ns, content in kept:
            into.add(name, written_ns, content)
    return into.bytes


def _told(note: Note) -> RawNote:
    return RawNote(note.file, f"{note.where}: {note.what}" if note.where else note.what)
