"""From paths to a case: walk, decode in parallel, sort.

What this module imports is light: the tables' libraries take longer to load than many a case to decode, so they are
loaded while the decoding processes work.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rankandfile.evidence.files.decoded import UNREAD, Decoded
from rankandfile.evidence.files.engine import Engine, Here
from rankandfile.evidence.files.limits import Limits
from rankandfile.evidence.files.links import Links
from rankandfile.evidence.files.patience import Patience
from rankandfile.evidence.files.pool import Task
from rankandfile.evidence.files.prose import without_prose
from rankandfile.evidence.files.walk import walk
from rankandfile.evidence.objects.at_hand import AtHand
from rankandfile.evidence.raw import RawDump, RawNote
from rankandfile.evidence.reading import NotACase, Reading
from rankandfile.evidence.tables.room import Room
from rankandfile.evidence.text.logs.raw import MOST_COMPARED, RawLog
from rankandfile.model.ledger import NO_ROOM

if TYPE_CHECKING:
    from rankandfile.model.case import Case

OnProgress = Callable[[int, int], None]

_HEAVY = ("rankandfile.evidence.sorting", "numpy.ma")
"""The latter is what Polars asks NumPy for with the first column."""


def load(
    paths: Sequence[Path],
    spool: Path,
    *,
    jobs: int | None = None,
    engine: Engine | None = None,
    copied: AtHand | None = None,
    limits: Limits | None = None,
    reading: Reading | None = None,
    on_progress: OnProgress | None = None,
    meanwhile: Callable[[], object] = int,
) -> Case:
    """The case in these files, folders and archives. Bad data never raises: it is in the case's notes.

    `spool` is an empty folder for what archives hold; it may be deleted afterwards. `reading` is what the user
    says about the files' names and ranks. `engine` decodes; without one, `jobs` processes of this machine. `copied`:
    where of `paths` some are copies. `meanwhile` is called beside the decoding, which other processes do.
    Raises `reading.NotACase` only for a case directory, or a pack of one, that this version cannot read.
    """
    if len(paths) == 1 and (paths[0] / "case.json").is_file():
        from rankandfile.evidence.tables import case_dir

        if case_dir.is_case_dir(paths[0]):
            _all_its_own(paths[0], limits or Limits())
            from rankandfile.evidence.pack import opening

            opening.probe(paths[0], str(paths[0]), limits or Limits())
            return case_dir.read(paths[0])
    if len(paths) == 1 and _may_be_pack(paths[0]):
        from rankandfile.evidence.pack import opening

        if opening.is_pack(paths[0]):
            return opening.read(paths[0], spool, limits)
    limits = limits or Limits()
    patience = Patience(limits.seconds)
    copied = copied or AtHand(list(paths))
    found, notes = walk(paths, spool, limits, patience, copied.called)
    blobs, prose = without_prose(found, paths)
    warming = threading.Thread(target=_warm, args=(meanwhile,), daemon=True)
    warming.start()
    room = Room(limits.memory_bytes)
    tasks = [
        Task(blob.path, blob.source, blob.size, limits.dump_bytes, copied.left.get(str(blob.path)))
        for blob in blobs
    ]
    answers = decode(tasks, room, engine or Here(jobs), on_progress, patience)
    warming.join()
    from rankandfile.evidence.sorting import case_of

    files = list(zip(blobs, answers, strict=True))
    return case_of(files, [*copied.notes, *notes, *prose], reading or Reading(), room)


def _warm(meanwhile: Callable[[], object]) -> None:
    # What fails here fails again where it is needed, and is told there.
    with suppress(Exception):
        for module in _HEAVY:
            importlib.import_module(module)
        meanwhile()


def _all_its_own(folder: Path, limits: Limits) -> None:
    """A case directory may be a stranger's, too: what it holds must be in it. Raises `NotACase`."""
    links = Links([folder], limits.follow_links)
    for path in (folder / "case.json", *sorted(folder.glob("*.parquet"))):
        if not links.ordinary(path):
            raise NotACase(f"{folder}: {path.name} is a link that leads out of it, or no ordinary file")


def _may_be_pack(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return file.read(4) == b"PK\3\4"
    except OSError:
        return False


def decode(
    tasks: Sequence[Task], room: Room, engine: Engine, on_progress: OnProgress | None, patience: Patience
) -> list[Decoded]:
    """What each of these files holds, in their order."""
    answers: dict[int, Decoded] = {}
    logs = _Logs()

    def receive(index: int, decoded: Decoded) -> None:
        if not room.take(decoded):
            # Whose dump it is, is still told: its rank is then not taken for one that left none.
            dumps = [RawDump(one.format, one.version, rank=one.rank) for one in decoded.dumps]
            decoded = Decoded(UNREAD, dumps, [RawNote("", f"not kept: {NO_ROOM}")])
        answers[index] = decoded
        if decoded.log is not None:
            logs.came(decoded.log)
        if on_progress is not None:
            on_progress(len(answers), len(tasks))

    engine.decode(tasks, receive, patience, logs.worth_comparing)
    _count_unread(answers)
    return [answers[index] for index in range(len(tasks))]


class _Logs:
    """Logs as they come. Of too many nothing is compared, and what would be is most of what they take."""

    def __init__(self) -> None:
        self._to_compare: list[RawLog] = []
        self._too_many = False

    def worth_comparing(self) -> bool:
        return not self._too_many

    def came(self, log: RawLog) -> None:
        if log.said:
            self._to_compare.append(log)
        self._too_many = self._too_many or len(self._to_compare) > MOST_COMPARED
        if self._too_many:
            for one in self._to_compare:
                one.said = []
            self._to_compare = []


def _count_unread(answers: Mapping[int, Decoded]) -> None:
    """One note for all files that were left out for the same reason: there may be a hundred thousand."""
    alike: dict[str, list[Decoded]] = {}
    for _, decoded in sorted(answers.items()):
        if decoded.kind == UNREAD:
            alike.setdefault(decoded.notes[0].what, []).append(decoded)
    for first, *more in alike.values():
        for decoded in more:
            decoded.notes = []
        if more:
            first.notes[0].what += f"; neither were {len(more):,} more files"
