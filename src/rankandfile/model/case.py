"""A case: everything known about one job's hang."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from .ledger import Evidence, Note
from .ranks import format_ranks
from .sources import SourceFile
from .tables import TABLES, empty

SCHEMA = "rankandfile.case/1"

_CALL_ID = re.compile(r"D(\d+)#(-?\d+)$")
_GROUP_ID = re.compile(r"D(\d+)@(\d+)$")
_DUMP_ID = re.compile(r"D(\d+)$")
_EVENT_ID = re.compile(r"L(\d+):(\d+)$")
_EXIT_ID = re.compile(r"X(\d+)$")
_STACK_ID = re.compile(r"S(\d+):(\d+)$")


def _table(name: str) -> Any:
    return field(default_factory=lambda: empty(name))


@dataclass(frozen=True, kw_only=True)
class Case:
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

    @property
    def dumps_used(self) -> pl.DataFrame:
        """The files that enter the case, without those set aside."""
        return self.dumps.filter(pl.col("set_aside").is_null())

    @property
    def ranks_seen(self) -> list[int]:
        """Ranks that left a dump which enters the case (even one without calls)."""
        ranks: list[int] = self.dumps_used["rank"].drop_nulls().unique().sort().to_list()
        return ranks

    def group_label(self, group: int) -> str:
        """A group as a person would call it: its description where it has one, and its members."""
        row = self.groups.row(by_predicate=pl.col("group") == group, named=True)
        return group_label(row["name"], row["desc"], row["members"])

    def evidence(self, evidence_id: str) -> Evidence | None:
        """The fact behind an id: its file, its place there, and what stands there. None if there is none."""
        if match := _CALL_ID.match(evidence_id):
            return self._call_evidence(evidence_id, int(match[1]), int(match[2]))
        if match := _GROUP_ID.match(evidence_id):
            return self._group_evidence(evidence_id, int(match[1]), int(match[2]))
        if match := _DUMP_ID.match(evidence_id):
            return self._dump_evidence(evidence_id, int(match[1]))
        if match := _STACK_ID.match(evidence_id):
            return self._stack_evidence(evidence_id, int(match[1]), int(match[2]))
        if match := _EVENT_ID.match(evidence_id):
            return self._event_evidence(evidence_id, int(match[1]), int(match[2]))
        if match := _EXIT_ID.match(evidence_id):
            return self._exit_evidence(evidence_id)
        return None

    def _source(self, dump: int) -> dict[str, Any] | None:
        rows = self.dumps.filter(pl.col("dump") == dump)
        return rows.row(0, named=True) if rows.height else None

    def _call_evidence(self, evidence_id: str, dump: int, record: int) -> Evidence | None:
        rows = self.calls.filter((pl.col("dump") == dump) & (pl.col("record") == record))
        source = self._source(dump)
        if source is None or not rows.height:
            return None
        call = rows.row(0, named=True)
        words = [f"rank {call['rank']}: {call['name']}"]
        words.append(f"group {self.group_label(call['group'])}")
        words.append(f"p2p seq {call['p2p_seq']}" if call["is_p2p"] else f"seq {call['seq']}")
        words.append(call["state"] + (", retired" if call["retired"] else ""))
        shape = self.shapes.filter(pl.col("shape") == call["shape"])
        if shape.height:
            row = shape.row(0, named=True)
            words.append(f"{row['in_sizes']} {' '.join(row['in_dtypes'])}".strip())
        if call["site"] is not None:
            frame = self.frames.row(by_predicate=pl.col("frame") == call["site"], named=True)
            words.append(f"{frame['file']}:{frame['line']} in {frame['function']}")
        return Evidence(
            id=evidence_id, source=source["source"], where=f"record {record}", quote="; ".join(words)
        )

    def _group_evidence(self, evidence_id: str, dump: int, group: int) -> Evidence | None:
        source = self._source(dump)
        if source is None or group not in self.groups["group"]:
            return None
        calls = self.calls.filter((pl.col("dump") == dump) & (pl.col("group") == group))
        quote = f"rank {source['rank']}, group {self.group_label(group)}: "
        if calls.height:
            ordered = calls.sort("record")
            first, last = ordered.row(0, named=True), ordered.row(-1, named=True)
            quote += (
                f"{calls.height} calls kept, from seq {first['seq']} (record {first['record']}) "
                f"to seq {last['seq']} (record {last['record']}, {last['op']}, {last['state']})"
            )
        else:
            quote += "no call kept"
        status = self.statuses.filter((pl.col("dump") == dump) & (pl.col("group") == group))
        if status.height:
            row = status.row(0, named=True)
            told = {
                "enqueued": row["last_enqueued"],
                "started": row["last_started"],
                "completed": row["last_completed"],
            }
            known = [f"{what} {number}" for what, number in told.items() if number is not None]
            quote += f"; its status block says {', '.join(known) or 'nothing'}"
        return Evidence(id=evidence_id, source=source["source"], where=f"group {group}", quote=quote)

    def _dump_evidence(self, evidence_id: str, dump: int) -> Evidence | None:
        source = self._source(dump)
        if source is None:
            return None
        quote = (
            f"rank {source['rank']} (from {source['rank_from']}), {source['calls']} calls, "
            f"records {source['first_record']} to {source['last_record']}"
        )
        return Evidence(id=evidence_id, source=source["source"], where="whole file", quote=quote)

    def _stack_evidence(self, evidence_id: str, file: int, line: int) -> Evidence | None:
        sources = self.stack_files.filter(pl.col("file") == file)
        rows = self.snapshots.filter((pl.col("file") == file) & (pl.col("line") == line))
        if not sources.height or not rows.height:
            return None
        thread = rows.row(0, named=True)
        who = "a process of no known rank" if thread["rank"] is None else f"rank {thread['rank']}"
        words = [who + (f", thread {thread['thread_name']}" if thread["thread_name"] else "")]
        stack = self.stacks.filter(pl.col("stack") == thread["stack"])
        numbers = stack["frames"][0].to_list()[:4] if stack.height else []
        for number in numbers:
            frame = self.frames.row(by_predicate=pl.col("frame") == number, named=True)
            words.append(f"{frame['function']} ({frame['file']}:{frame['line']})")
        quote = " < ".join(words)
        return Evidence(id=evidence_id, source=sources["source"][0], where=f"line {line}", quote=quote)

    def _event_evidence(self, evidence_id: str, log: int, line: int) -> Evidence | None:
        sources = self.logs.filter(pl.col("log") == log)
        rows = self.events.filter((pl.col("log") == log) & (pl.col("line") == line))
        if not sources.height or not rows.height:
            return None
        return Evidence(
            id=evidence_id, source=sources["source"][0], where=f"line {line}", quote=rows["text"][0] or ""
        )

    def _exit_evidence(self, evidence_id: str) -> Evidence | None:
        rows = self.exits.filter(pl.col("evidence") == evidence_id)
        if not rows.height:
            return None
        row = rows.row(0, named=True)
        how = row["signal"] or (None if row["exit_code"] is None else f"exit code {row['exit_code']}")
        if row["state"] == "stopped" and row["time_ns"] is not None:
            how = f"seen so since {row['time_ns'] / 1e9:.1f} (seconds since 1970)"
        words = [f"rank {row['rank']}", f"pid {row['pid']}", row["state"], how, row["error"]]
        quote = ", ".join(str(word) for word in words if word is not None)
        return Evidence(id=evidence_id, source=row["source"], where=f"process {row['pid']}", quote=quote)


def group_label(name: str, desc: str, members: list[int] | None) -> str:
    title = desc if desc and desc != "undefined" else name
    return f"{title} [{format_ranks(members)}]" if members else title
