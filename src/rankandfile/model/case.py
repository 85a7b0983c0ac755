"""A case: everything known about one job's hang."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import Any

import msgspec
import polars as pl
from msgspec import Struct, field
from msgspec.structs import replace

from .column import Row
from .ledger import Evidence, Note
from .ranks import format_ranks
from .snapshots import SHOWS
from .sources import SourceFile
from .tables import TABLES, empty
from .work import WORK, Work

SCHEMA = "rankandfile.case/1"


def _table(name: str) -> Any:
    return field(default_factory=lambda: empty(name))


#: Two numbers of 64 bits and what is around them; longer ones are nobody's, and fit no table.
_LONGEST_ID = 40


class Case(Struct, frozen=True, kw_only=True, dict=True):
    """The tables of `rankandfile.model.tables`, and the notes on what could not be read."""

    calls: pl.DataFrame = _table("calls")
    groups: pl.DataFrame = _table("groups")
    shapes: pl.DataFrame = _table("shapes")
    stacks: pl.DataFrame = _table("stacks")
    frames: pl.DataFrame = _table("frames")
    statuses: pl.DataFrame = _table("statuses")
    dumps: pl.DataFrame = _table("dumps")
    snapshots: pl.DataFrame = _table("snapshots")
    stack_files: pl.DataFrame = _table("stack_files")
    events: pl.DataFrame = _table("events")
    logs: pl.DataFrame = _table("logs")
    exits: pl.DataFrame = _table("exits")
    notes: tuple[Note, ...] = ()
    world_size: int | None = None
    """Number of ranks of the job, where the evidence tells it."""
    sources: tuple[SourceFile, ...] = ()
    """The source files that ran, as a recorder kept them. No table: a case that is written or packed is without."""

    def tables(self) -> dict[str, pl.DataFrame]:
        return {name: getattr(self, name) for name in TABLES}

    def with_notes(self, *notes: Note) -> Case:
        return replace(self, notes=self.notes + notes)

    @cached_property
    def dumps_used(self) -> pl.DataFrame:
        """The files that enter the case, without those set aside."""
        return self.dumps.filter(pl.col("set_aside").is_null())

    @cached_property
    def ranks_seen(self) -> list[int]:
        """Ranks that left a dump which enters the case (even one without calls)."""
        ranks: list[int] = self.dumps_used["rank"].drop_nulls().unique().sort().to_list()
        return ranks

    @cached_property
    def unlooked(self) -> pl.DataFrame:
        """Where nobody looked at any rank: of each that left no record of calls, the first call that its watchdog gave
        up on, as the snapshot of where it was made.

        Where its host stands is another thing, so that those who were looked at cannot be held against these."""
        shows = pl.col("shows").cast(pl.String)
        told = self.snapshots.filter((shows == "issued") & pl.col("rank").is_not_null())
        if not told.height or self.snapshots.filter(shows.is_in(["now", "died"])).height:
            return told.clear()
        recorded = pl.col("rank").is_in(self.calls["rank"].cast(told["rank"].dtype).unique().implode())
        told = told.filter(~recorded).sort("at_ns", "file", "line", nulls_last=True)
        return told.unique("rank", keep="first", maintain_order=True)

    @cached_property
    def looks(self) -> pl.DataFrame:
        """The snapshots; where nobody looked, a rank stands where its watchdog's call was made: it has not come past
        that, wherever its host is."""
        if not self.unlooked.height:
            return self.snapshots
        here = self.unlooked.select("file", "line", stands=pl.lit(True))
        rows = self.snapshots.join(here, on=["file", "line"], how="left", maintain_order="left")
        shows = pl.when(pl.col("stands")).then(pl.lit("now")).otherwise(pl.col("shows").cast(pl.String))
        return rows.with_columns(shows=shows.cast(SHOWS)).drop("stands")

    @cached_property
    def compared_lines(self) -> list[Row]:
        """Events that came of putting the logs of ranks side by side: what one rank's says and others' do not."""
        kinds = ("value_differs", "value_differs_now", "line_alone", "progress_differs")
        found = self.events.filter(pl.col("kind").cast(pl.String).is_in(kinds) & pl.col("rank").is_not_null())
        return found.sort("log", "line").to_dicts()

    @cached_property
    def places_that_differ(self) -> list[Row]:
        """Events of a path or an address in the last line of all ranks, where a few have another one than most."""
        return self.events.filter(pl.col("kind").cast(pl.String) == "place_differs").sort("rank").to_dicts()

    @cached_property
    def own_last_lines(self) -> list[Row]:
        """Events of what one rank wrote among its last lines, and no other anywhere."""
        own = (pl.col("kind").cast(pl.String) == "own_last_line") & pl.col("rank").is_not_null()
        found = self.events.filter(own)
        return found.sort("log", "line").to_dicts()

    @cached_property
    def tried_again(self) -> list[Row]:
        """Events of who tries one thing again and again up to the end of its log."""
        return self.events.filter(pl.col("kind").cast(pl.String) == "tries_again").to_dicts()

    def group_label(self, group: int) -> str:
        """A group as a person would call it: its description where it has one, and its members."""
        row = self.groups.row(by_predicate=pl.col("group") == group, named=True)
        return group_label(row["name"], row["desc"], row["members"])

    def evidence(self, evidence_id: str) -> Evidence | None:
        """The fact behind an id: its file, its place there, and what stands there. None if there is none."""
        if len(evidence_id) > _LONGEST_ID:
            return None
        for shape, told_by in _TOLD_BY.items():
            if match := shape.match(evidence_id):
                found = told_by(self, *map(int, match.groups()))
                if found is not None:
                    source, where, quote = found
                    return Evidence(id=evidence_id, source=source, where=where, quote=quote)
        return None

    def _of_call(self, dump: int, record: int) -> _Fact | None:
        source, call = _row(self.dumps, dump=dump), _row(self.calls, dump=dump, record=record)
        if source is None or call is None:
            return None
        words = [f"rank {call['rank']}: {call['name']}"]
        words.append(f"group {self.group_label(call['group'])}")
        words.append(f"p2p seq {call['p2p_seq']}" if call["is_p2p"] else f"seq {call['seq']}")
        words.append(call["state"] + (", retired" if call["retired"] else ""))
        if (shape := _row(self.shapes, shape=call["shape"])) is not None:
            words.append(f"{shape['in_sizes']} {' '.join(shape['in_dtypes'])}".strip())
        if call["site"] is not None:
            frame = self.frames.row(by_predicate=pl.col("frame") == call["site"], named=True)
            words.append(f"{frame['file']}:{frame['line']} in {frame['function']}")
        return source["source"], f"record {record}", "; ".join(words)

    def _of_group(self, dump: int, group: int) -> _Fact | None:
        source = _row(self.dumps, dump=dump)
        if source is None or group not in self.groups["group"]:
            return None
        quote = f"rank {source['rank']}, group {self.group_label(group)}: "
        calls = self.calls.filter(dump=dump, group=group).sort("record")
        if calls.height:
            first, last = calls.row(0, named=True), calls.row(-1, named=True)
            quote += (
                f"{calls.height} calls kept, from seq {first['seq']} (record {first['record']}) "
                f"to seq {last['seq']} (record {last['record']}, {last['op']}, {last['state']})"
            )
        else:
            quote += "no call kept"
        if (status := _row(self.statuses, dump=dump, group=group)) is not None:
            told = ((what, status[f"last_{what}"]) for what in ("enqueued", "started", "completed"))
            known = [f"{what} {number}" for what, number in told if number is not None]
            quote += f"; its status block says {', '.join(known) or 'nothing'}"
        return source["source"], f"group {group}", quote

    def _of_dump(self, dump: int) -> _Fact | None:
        source = _row(self.dumps, dump=dump)
        if source is None:
            return None
        quote = (
            f"rank {source['rank']} (from {source['rank_from']}), {source['calls']} calls, "
            f"records {source['first_record']} to {source['last_record']}"
        )
        return source["source"], "whole file", quote

    def _of_stack(self, file: int, line: int) -> _Fact | None:
        source, thread = _row(self.stack_files, file=file), _row(self.snapshots, file=file, line=line)
        if source is None or thread is None:
            return None
        who = "a process of no known rank" if thread["rank"] is None else f"rank {thread['rank']}"
        words = [who + (f", thread {thread['thread_name']}" if thread["thread_name"] else "")]
        stack = _row(self.stacks, stack=thread["stack"])
        for number in stack["frames"][:4] if stack is not None else ():
            frame = self.frames.row(by_predicate=pl.col("frame") == number, named=True)
            words.append(f"{frame['function']} ({frame['file']}:{frame['line']})")
        return source["source"], f"line {line}", " < ".join(words)

    def _of_event(self, log: int, line: int) -> _Fact | None:
        source, event = _row(self.logs, log=log), _row(self.events, log=log, line=line)
        if source is None or event is None:
            return None
        return source["source"], f"line {line}", event["text"] or ""

    def _of_exit(self, number: int) -> _Fact | None:
        row = _row(self.exits, evidence=f"X{number}")
        if row is None:
            return None
        if row["kind"] == WORK:
            return row["source"], f"rank {row['rank']}", msgspec.json.decode(row["error"], type=Work).words
        how = row["signal"] or (None if row["exit_code"] is None else f"exit code {row['exit_code']}")
        if row["state"] == "stopped" and row["time_ns"] is not None:
            how = f"seen so since {row['time_ns'] / 1e9:.1f} (seconds since 1970)"
        words = [f"rank {row['rank']}", f"pid {row['pid']}", row["state"], how, row["error"]]
        quote = ", ".join(str(word) for word in words if word is not None)
        return row["source"], f"process {row['pid']}", quote


#: File, place there, and what stands there.
_Fact = tuple[str, str, str]

#: The shapes of evidence ids, and what tells of each.
_TOLD_BY: dict[re.Pattern[str], Callable[..., _Fact | None]] = {
    re.compile(r"D(\d+)#(-?\d+)$"): Case._of_call,
    re.compile(r"D(\d+)@(\d+)$"): Case._of_group,
    re.compile(r"D(\d+)$"): Case._of_dump,
    re.compile(r"S(\d+):(\d+)$"): Case._of_stack,
    re.compile(r"L(\d+):(\d+)$"): Case._of_event,
    re.compile(r"X(\d+)$"): Case._of_exit,
}


def _row(table: pl.DataFrame, **values: int | str) -> Row | None:
    """The first row with these values, if there is one."""
    rows = table.filter(**values)
    return rows.row(0, named=True) if rows.height else None


def group_label(name: str, desc: str, members: list[int] | None) -> str:
    title = desc if desc and desc != "undefined" else name
    return f"{title} [{format_ranks(members)}]" if members else title
