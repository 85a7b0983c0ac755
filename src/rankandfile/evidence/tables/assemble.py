"""From decoded dumps to the tables of a case: columns joined, never a Python object per call."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from rankandfile.evidence.exits import table as exits
from rankandfile.evidence.exits.ends import End
from rankandfile.evidence.flight.states import settle_batches, undo_aborted
from rankandfile.evidence.flight.versions import mixed_versions
from rankandfile.evidence.owners.known_processes import NOTHING_KNOWN, KnownProcesses
from rankandfile.evidence.tables.calls import call_table
from rankandfile.evidence.tables.groups import RecordedGroup, membership, world_size
from rankandfile.evidence.tables.part import Part
from rankandfile.evidence.tables.repeated import Repeated, frame_table, shape_table, stack_table
from rankandfile.evidence.tables.room import Room
from rankandfile.evidence.text.logs.assemble import LogPart
from rankandfile.evidence.text.logs.assemble import tables as log_tables
from rankandfile.evidence.text.stacks.assemble import snapshot_tables
from rankandfile.evidence.text.stacks.ownership import StackPart
from rankandfile.model.case import Case
from rankandfile.model.ledger import NO_ROOM, SET_ASIDE, Note
from rankandfile.model.tables import MEMBERS_FROM, schema


def assemble(
    parts: Sequence[Part],
    notes: Sequence[Note] = (),
    stack_parts: Sequence[StackPart] = (),
    log_parts: Sequence[LogPart] = (),
    ends: Sequence[End] = (),
    processes: KnownProcesses = NOTHING_KNOWN,
    room: Room | None = None,
) -> Case:
    """The case of these files. Dumps set aside are listed in `dumps` and leave no call: those, too, that have no
    room."""
    tables = Repeated(room)
    used, left_out = _with_room(
        [part for part in parts if part.set_aside is None and part.rank is not None], tables
    )
    world = world_size(used, exits.listed(ends))
    members = membership(used, world)
    numbers = {id(part): number for number, part in enumerate(parts)}
    calls = call_table(used, numbers, members.numbers, members.groups, tables)
    # After the calls: a thread that stands where its call was made then has the call's own stack.
    snapshots, stack_files = snapshot_tables(stack_parts, tables)
    logged = log_tables(log_parts, processes, world)
    return Case(
        calls=undo_aborted(settle_batches(calls)),
        groups=_groups(members.groups),
        shapes=shape_table(tables),
        stacks=stack_table(tables),
        frames=frame_table(tables),
        statuses=_statuses(used, numbers, members.numbers),
        dumps=_dumps(parts),
        snapshots=snapshots,
        stack_files=stack_files,
        events=logged.events,
        logs=logged.logs,
        exits=exits.of_case(ends, logged.events, logged.logs),
        notes=(*notes, *left_out, *logged.notes, *mixed_versions(used)),
        world_size=world or max(logged.logs["world_size"].drop_nulls().to_list(), default=None),
    )


def _with_room(parts: Sequence[Part], tables: Repeated) -> tuple[list[Part], list[Note]]:
    used = []
    for part in parts:
        if tables.has_room_for(part):
            if part.raw.calls:
                tables.kinds_of(part)
            used.append(part)
        else:
            tables.leave_out(part)
            part.set_aside = NO_ROOM
    others = len(parts) - len(used)
    more = f"; so were {others - 1:,} more files" if others > 1 else ""
    first = next((part.source for part in parts if part.set_aside is not None), None)
    return used, [] if first is None else [Note(file=first, where="", what=f"{SET_ASIDE}{NO_ROOM}{more}")]


def _groups(groups: list[RecordedGroup]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "group": pl.Series(range(len(groups)), dtype=pl.UInt32),
            "name": pl.Series([group.name for group in groups], dtype=pl.String),
            "desc": pl.Series([group.desc for group in groups], dtype=pl.String),
            "members": pl.Series(
                [None if group.members is None else list(group.members) for group in groups],
                dtype=pl.List(pl.Int32),
            ),
            "members_from": pl.Series([group.members_from for group in groups], dtype=MEMBERS_FROM),
        }
    )


def _statuses(parts: Sequence[Part], numbers: dict[int, int], groups_of: list[list[int]]) -> pl.DataFrame:
    rows = [
        (
            part.rank,
            of[status.group],
            status.last_enqueued,
            status.last_started,
            status.last_completed,
            numbers[id(part)],
        )
        for part, of in zip(parts, groups_of, strict=True)
        for status in part.raw.status
    ]
    return pl.DataFrame(rows, schema=schema("statuses"), orient="row")


def _dumps(parts: Sequence[Part]) -> pl.DataFrame:
    rows = []
    for number, part in enumerate(parts):
        records = part.span("record") or (None, None)
        times = part.span("created_ns") or (None, None)
        rows.append(
            (
                number,
                part.source,
                part.raw.format,
                part.raw.version,
                part.raw.library,
                part.backend,
                part.rank,
                part.rank_from,
                part.host,
                part.raw.calls,
                part.raw.left_out,
                *records,
                part.wrapped,
                part.raw.truncated,
                part.raw.has_frames,
                part.timing,
                *times,
                part.written_ns or None,
                part.set_aside,
            )
        )
    return pl.DataFrame(rows, schema=schema("dumps"), orient="row")
