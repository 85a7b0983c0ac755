"""From decoded files to a case: find out whose each file is, set aside what is not of today, assemble the rest."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from rankandfile.evidence.exits import table as exits
from rankandfile.evidence.exits.ends import End
from rankandfile.evidence.files.blobs import Blob
from rankandfile.evidence.files.decoded import UNREAD, Decoded
from rankandfile.evidence.owners.attempts import attempts
from rankandfile.evidence.owners.log_runs import chosen_run, log_runs, of_another
from rankandfile.evidence.owners.ranks import give_ranks
from rankandfile.evidence.reading import Reading
from rankandfile.evidence.ring import sources
from rankandfile.evidence.tables.assemble import assemble
from rankandfile.evidence.tables.part import Part
from rankandfile.evidence.tables.room import Room
from rankandfile.evidence.text.logs.assemble import LogPart
from rankandfile.evidence.text.stacks.ownership import StackPart
from rankandfile.evidence.text.stacks.ownership import give_ranks as give_ranks_to_stacks
from rankandfile.model.case import Case
from rankandfile.model.errors import UserError
from rankandfile.model.ledger import NO_ROOM, SET_ASIDE, Note

from .owners.known_processes import known_processes
from .owners.owner_by_path import whose


class FileContents(Struct):
    """What the files held, each kind in the files' order."""

    dumps: list[Part] = field(default_factory=list)
    stacks: list[StackPart] = field(default_factory=list)
    logs: list[LogPart] = field(default_factory=list)
    ends: list[End] = field(default_factory=list)
    """What lists and error files say."""
    left: list[End] = field(default_factory=list)
    """What the system left behind: whose it is only its place can tell."""
    notes: list[Note] = field(default_factory=list)
    sources: list[tuple[Part, list[tuple[str, str]]]] = field(default_factory=list)


#: Kinds of ends that the system left behind.
_LEFT = ("cgroup", "core", "core_pattern")


def case_of(
    files: Sequence[tuple[Blob, Decoded]], notes: Sequence[Note], reading: Reading, room: Room | None = None
) -> Case:
    """The case in these files, in the files' order, as far as there is room for it."""
    found = FileContents(notes=list(notes))
    for blob, decoded in files:
        _take(found, blob, decoded)
    found.notes += give_ranks(found.dumps, reading)
    for log, owner in zip(found.logs, whose([log.source for log in found.logs], lone=False), strict=True):
        log.rank, log.rank_from, log.host = owner.rank, owner.rank_from, owner.host
    found.notes += _keep_one_attempt(found, reading.attempt)
    known = known_processes(
        [
            *((log.raw.told, log.rank, log.host) for log in found.logs),
            *((part.raw.told, None, None) for part in found.stacks),
        ],
        exits.ranks_of_processes(found.ends),
    )
    world = max((log.raw.row.world_size or 0 for log in found.logs), default=0)
    found.notes += give_ranks_to_stacks(found.stacks, known, world or None)
    for end, owner in zip(found.left, whose([end.source for end in found.left]), strict=True):
        end.rank, end.host = owner.rank if end.kind == "cgroup" else None, owner.host
    recorded = {one for part, ran in found.sources if part.set_aside is None for one in ran}
    ran, more = sources.sources(recorded, sources.copies(blob for blob, _ in files) if recorded else {})
    found.notes += more
    case = assemble(
        found.dumps, found.notes, found.stacks, found.logs, [*found.ends, *found.left], known, room
    )
    return replace(case, sources=ran)


def _keep_one_attempt(found: FileContents, chosen: int | None) -> list[Note]:
    """Set aside what does not belong to the hang that is asked about: another run's files, a rank's second file."""
    candidates = [part for part in found.dumps if part.set_aside is None]
    dumps = attempts([part.facts for part in candidates], chosen)
    runs = log_runs(found.logs)
    count = max(1, len(dumps.attempts) or len(runs))
    if chosen is not None and chosen > count:
        raise UserError(
            f"no attempt {chosen}: there {'is 1' if count == 1 else f'are {count}'} in this evidence"
        )
    notes: list[Note] = []
    for part, why in zip(candidates, dumps.set_aside, strict=True):
        if why is not None:
            part.set_aside = why
            notes.append(Note(file=part.source, where="", what=f"{SET_ASIDE}{why}"))
    attempt = next((one for one in dumps.attempts if one.number == dumps.chosen), None)
    run = chosen_run(runs, attempt, chosen)
    if run is None:
        return notes
    others = {i: of_another(other, run) for other in runs if other is not run for i in other.logs}
    notes += [
        Note(file=found.logs[i].source, where="", what=f"{SET_ASIDE}{why}") for i, why in others.items()
    ]
    found.logs = [log for i, log in enumerate(found.logs) if i not in others]
    return notes


def _take(found: FileContents, blob: Blob, decoded: Decoded) -> None:
    found.notes += [Note(file=blob.source, where=note.where, what=note.what) for note in decoded.notes]
    why = NO_ROOM if decoded.kind == UNREAD else None
    parts = [Part(raw, blob.source, blob.written_ns, set_aside=why) for raw in decoded.dumps]
    found.dumps += parts
    found.sources += [(part, decoded.sources) for part in parts if decoded.sources]
    if decoded.stacks is not None:
        notes = decoded.stacks.notes
        found.notes += [Note(file=blob.source, where=note.where, what=note.what) for note in notes]
        found.stacks.append(StackPart(decoded.stacks, blob.source, blob.written_ns))
    for end in decoded.ends:
        (found.left if end.kind in _LEFT else found.ends).append(end)
    if decoded.log is not None:
        found.logs.append(LogPart(decoded.log, blob.source, blob.written_ns))
