"""The tables `events` and `logs` of a case, out of what the decoding processes made of each file."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

import polars as pl
from msgspec import Struct, field

from rankandfile.evidence.owners.known_processes import NOTHING_KNOWN, KnownProcesses
from rankandfile.evidence.text.logs import clock, left_out
from rankandfile.evidence.text.logs.between_ranks.compared import differences
from rankandfile.evidence.text.logs.past_attempts import without_aftermath, without_past_attempts
from rankandfile.evidence.text.logs.raw import (
    MOST_COMPARED,
    Columns,
    LogRow,
    RawLog,
    columns_of,
    packed_columns,
)
from rankandfile.evidence.text.logs.whose import identity
from rankandfile.evidence.text.logs.whose.local_devices import by_device
from rankandfile.evidence.text.logs.whose.npu_places import with_places
from rankandfile.evidence.text.logs.whose.pods import tie_pods
from rankandfile.model.events import log_schema
from rankandfile.model.ledger import Note

#: Logs of a speaker each, from which on they are taken for those of all ranks.
_FEWEST = 3


class LogPart(Struct):
    """One log on its way into the case, and whose it is as far as its path tells."""

    raw: RawLog
    source: str
    written_ns: int = 0
    rank: int | None = None
    rank_from: str | None = None
    host: str | None = None


class LogTables(Struct, frozen=True):
    events: pl.DataFrame
    logs: pl.DataFrame
    notes: list[Note] = field(default_factory=list)


def tables(
    parts: Sequence[LogPart], processes: KnownProcesses = NOTHING_KNOWN, world: int | None = None
) -> LogTables:
    """Number the logs in the order given, and tie events to ranks where any of the logs tells whose they are.

    `processes`: the ranks of processes, as far as any file tells them; `world`: how many there are, by other files.
    """
    for part in parts:
        if (
            part.rank is not None
            and any(sign in part.raw.packed for sign in identity.OF_OTHERS)
            and identity.of_others(part.rank, part.raw.columns)
        ):
            part.rank, part.rank_from = None, None
    _give_to_speakers(parts)
    _give_by_own_words(parts)
    logs = _logs(parts)
    machine = _of_one_machine(parts, world)
    _compare(parts, processes, machine)
    events = without_aftermath(without_past_attempts(_events(parts)))
    events = identity.without_tags_of_agents(events)
    events = identity.with_local_ranks(identity.with_tasks_of_ranks(events), machine)
    events = identity.with_workers_of_ranks(events)
    world = max(logs["world_size"].drop_nulls().to_list(), default=None)
    pods = [pod for part in parts for pod in part.raw.told.pods]
    events = by_device(tie_pods(identity.tie(identity.own(events, logs), processes), pods, world))
    events = with_places(left_out.completed(events, world), world)
    events = with_years(events, parts)
    notes = [
        Note(file=part.source, where=note.where, what=note.what) for part in parts for note in part.raw.notes
    ]
    notes += [Note(file=shift.source, where="", what=shift.sentence) for shift in clock.shifts(events, logs)]
    return LogTables(events, logs, notes)


def _give_to_speakers(parts: Sequence[LogPart]) -> None:
    """Logs of one rank each whose names tell none: in each of them another rank speaks alone, and together they are all
    there are."""
    alone: dict[int, LogPart] = {}
    for part in parts if len(parts) <= MOST_COMPARED else ():
        if part.rank is None and b'"alone"' in part.raw.packed:
            rank = identity.only_speaker(part.raw.columns)
            if rank is None or rank in alone:
                return
            alone[rank] = part
    if len(alone) >= _FEWEST and set(alone) == set(range(len(alone))):
        for rank, part in alone.items():
            part.rank, part.rank_from = rank, "app"


def _give_by_own_words(parts: Sequence[LogPart]) -> None:
    """Logs in each of which one process says which rank it is, and each says another."""
    told = [part for part in parts if part.rank is None and part.raw.told.rank is not None]
    known = [part.rank for part in parts if part.rank is not None]
    ranks = [part.raw.told.rank for part in told]
    if len(told) < 2 or len({*ranks, *known}) < len(ranks) + len(set(known)):
        return
    row = sorted(rank for rank in {*ranks, *known} if rank is not None)
    if min(after - one for one, after in itertools.pairwise(row)) > 1:
        # The first ranks of each machine, as they speak for those beside them.
        return
    for part, rank in zip(told, ranks, strict=True):
        if rank is not None and not identity.of_others(rank, part.raw.columns):
            part.rank, part.rank_from = rank, "app"


def _of_one_machine(parts: Sequence[LogPart], world: int | None) -> int | None:
    """The one log in which torchrun labels lines, with the local ranks of as many processes as the job has: one machine
    has them all, and these are their ranks."""
    labelled = [n for n, part in enumerate(parts) if any(s.local_rank is not None for s in part.raw.said)]
    if world is None or len(labelled) != 1:
        return None
    labels = {said.local_rank for said in parts[labelled[0]].raw.said} - {None}
    return labelled[0] if labels == set(range(world)) else None


def _compare(parts: Sequence[LogPart], processes: KnownProcesses, machine: int | None) -> None:
    """Put what the logs say differently among their events."""
    for number, part in enumerate(parts):
        for said in part.raw.said:
            said.rank = processes.rank_of(said.host, said.pid) if said.rank is None else said.rank
            if said.rank is None and number == machine:
                said.rank = said.local_rank
    logs = ((number, part.rank, part.raw.said) for number, part in enumerate(parts))
    found = differences(logs, _tell_of_several(parts))
    for number, events in found.items():
        raw = parts[number].raw
        more = columns_of(events)
        known = raw.columns
        raw.packed = packed_columns({name: [*known.get(name, ()), *values] for name, values in more.items()})
        raw.said = []


def _tell_of_several(parts: Sequence[LogPart]) -> bool:
    """Whether any other rank is heard of: of the logs of one nothing tells that no other wrote the same."""
    ranks: set[int] = set()
    for part in parts[:MOST_COMPARED]:
        ranks.update(rank for rank in (part.rank, *part.raw.columns.get("rank", ())) if rank is not None)
        if len(ranks) > 1:
            return True
    return False


def _logs(parts: Sequence[LogPart]) -> pl.DataFrame:
    schema = log_schema("logs")
    if not parts:
        return pl.DataFrame(None, schema)
    columns = zip(*(_row(number, part) for number, part in enumerate(parts)), strict=True)
    return pl.DataFrame([_series(*one) for one in zip(schema.items(), columns, strict=True)])


def _series(named: tuple[str, pl.DataType], values: Sequence[Any]) -> pl.Series:
    name, dtype = named
    if not isinstance(dtype, pl.List):
        return pl.Series(name, values, dtype=dtype)
    # Polars makes a series of each list. Most logs have the same.
    places: dict[tuple[Any, ...], int] = {}
    taken = [places.setdefault(tuple(value), len(places)) for value in values]
    return pl.Series(name, list(map(list, places)), dtype=dtype).gather(taken)


def _row(number: int, part: LogPart) -> list[Any]:
    row: LogRow = part.raw.row
    first, last = (in_year(ns, row.time_quality, part.written_ns) for ns in (row.first_ns, row.last_ns))
    return [
        number, part.source, row.bytes, row.lines, part.rank, part.rank_from, part.host or row.host, row.prefixes,
        first, last, row.time_quality, row.world_size, row.torch,
        list(part.raw.told.programs), row.last_line, row.truncated, row.partial,
    ]  # fmt: skip


def _events(parts: Sequence[LogPart]) -> pl.DataFrame:
    """One table of all logs' events: a table for each log would take far longer to make than the logs to read."""
    schema = log_schema("events")
    told: Columns = {name: [] for name in schema}
    for number, part in enumerate(parts):
        columns = part.raw.columns
        told["log"] += [number] * len(columns.get("line", ()))
        for name in schema.keys() & columns.keys():
            told[name] += columns[name]
    return pl.DataFrame(
        [pl.Series(name, told.pop(name), dtype=dtype, strict=False) for name, dtype in schema.items()]
    )


def with_years(events: pl.DataFrame, parts: Sequence[LogPart]) -> pl.DataFrame:
    """Times without a year get that of the file's lines that have one, else of its last change: the year in which they
    are not in the future. Files are copied in later years."""
    lacking = pl.col("time_quality").cast(pl.String).str.ends_with("no_year")
    if not events.select(lacking.any()).item():
        return events
    written = [part.written_ns for part in parts]
    rows = events.with_row_index().filter(lacking)
    dated = pl.col("time_quality").cast(pl.String).str.strip_prefix("near ").is_in(["wall", "zoned"])
    known = (
        events.filter(dated & pl.col("time_ns").is_not_null()).group_by("log").agg(pl.col("time_ns").max())
    )
    latest = known["time_ns"].max()
    if isinstance(latest, int):
        # Those that have none are of the same job.
        written = [min(ns, latest) if ns else latest for ns in written]
    for log, last in known.iter_rows():
        written[log] = last
    times = [
        in_year(ns, "no_year", written[log])
        for ns, log in zip(rows["time_ns"].to_list(), rows["log"].to_list(), strict=True)
    ]
    column = events["time_ns"].scatter(rows["index"].to_list(), times)
    return events.with_columns(column.alias("time_ns"))


_DAY_NS = 86_400 * 1_000_000_000


def in_year(ns: int | None, quality: str | None, written_ns: int) -> int | None:
    """A time without a year in the latest one in which it does not lie behind the file's last change."""
    if ns is None or quality is None or not quality.endswith("no_year") or not 0 < written_ns < 1 << 63:
        return ns
    known = _year(written_ns // _DAY_NS)
    for year in (known + 1, known, known - 1):
        shift = _shift(ns // _DAY_NS, year)
        # A day to spare: the file's clock may be in another zone.
        if shift is not None and ns + shift <= written_ns + _DAY_NS:
            return ns + shift
    return ns


@lru_cache(maxsize=4096)
def _year(day: int) -> int:
    """Of a day, counted from 1970."""
    return (date(1970, 1, 1) + timedelta(day)).year


@lru_cache(maxsize=4096)
def _shift(day: int, year: int) -> int | None:
    """How far that day of another year lies from it, in nanoseconds; None where that year has none such."""
    moment = date(1970, 1, 1) + timedelta(day)
    try:
        return (moment.replace(year=year) - moment).days * _DAY_NS
    except ValueError:
        return None
