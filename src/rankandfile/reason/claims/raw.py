"""The case's tables as the checks read them: the rows of one group, numbered afresh, and of one call on its members.

In: a case. Out: rows. Nothing of the facts is used: neither their numbering, nor their matching, nor their waits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

import polars as pl

from rankandfile.model.case import Case
from rankandfile.model.claims import UNNAMED, OfCall
from rankandfile.model.column import Row
from rankandfile.model.ranks import parse_ranks
from rankandfile.reason.calls.contracts import contract_of
from rankandfile.reason.ranks.from_logs.watchdog_reports import DEFAULT

_CALL = re.compile(r"D(\d+)#(-?\d+)$")
_EVENT = re.compile(r"L(\d+):(\d+)$")
#: A group that a process has a number for, and no line a name.
_OWN = re.compile(r"PG (\d+) of rank (\d+)$")
_ROOT = re.compile(r"(?:src|dst)=(\d+)")
_NEEDED = (
    "rank", "group", "record", "dump", "op", "seq", "p2p_seq", "is_p2p", "src", "dst", "root", "shape", "state",
    "site", "stack", "name",
)  # fmt: skip
_OPEN = ["issued", "started"]


class Raw:
    """Tables of one case, with the few things kept that several checks ask for."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self._groups: dict[int, pl.DataFrame] = {}
        self._named: dict[str, list[int]] = {}
        self._rows: dict[tuple[str, str], Row | None] = {}
        self.checked: dict[str, set[int]] = {}
        """Claims that were checked -> the ranks for which they hold: sentences say again what waits say."""

    @cached_property
    def _dumps(self) -> pl.DataFrame:
        used = self.case.dumps_used.filter(pl.col("rank").is_not_null())
        return used.select(
            "rank", pl.col("wrapped").fill_null(False), pl.col("truncated").fill_null(False)
        ).unique("rank", keep="first")

    @cached_property
    def whole(self) -> frozenset[int]:
        """Ranks of which a dump tells up to the end."""
        return frozenset(self._dumps.filter(~pl.col("truncated"))["rank"].to_list())

    @cached_property
    def wrapped(self) -> frozenset[int]:
        """Ranks whose earlier calls are lost."""
        return frozenset(self._dumps.filter("wrapped")["rank"].to_list())

    def groups(self, label: str) -> list[int]:
        """The groups that a person would call so: by name or description, and members where they are known."""
        if label not in self._named:
            self._named[label] = self._called(label)
        return self._named[label]

    def _called(self, label: str) -> list[int]:
        title, _, listed = label.removesuffix("]").rpartition(" [")
        title, members = (title, parse_ranks(listed)) if title else (label, [])
        rows = self.case.groups.filter((pl.col("name") == title) | (pl.col("desc") == title))
        fits = [
            row["group"]
            for row in rows.iter_rows(named=True)
            if not row["members"] or row["members"] == members
        ]
        return fits or rows["group"].to_list()

    def of_group(self, group: int) -> pl.DataFrame:
        """Its rows in program order. `n`: the number that agrees across ranks, less those that batches burned; null
        for sends and receives, and where a ring lost how many batches there were."""
        if group not in self._groups:
            self._groups[group] = self._numbered(
                self.case.calls.filter(pl.col("group") == group).select(_NEEDED)
            )
        return self._groups[group]

    def _numbered(self, rows: pl.DataFrame) -> pl.DataFrame:
        batch = pl.col("is_p2p") & pl.col("op").cast(pl.String).str.to_lowercase().str.ends_with("coalesced")
        burned = rows.filter(batch).height
        if burned and self.wrapped & set(rows["rank"].to_list()):
            number = pl.lit(None, pl.Int64)
        elif burned:
            rows = rows.sort("rank", "record")
            number = pl.when(~pl.col("is_p2p")).then(pl.col("seq") - batch.cum_sum().over("rank"))
        else:
            number = pl.when(~pl.col("is_p2p")).then("seq")
        return rows.with_columns(
            number.alias("n"), pl.col("state").cast(pl.String).is_in(_OPEN).alias("open")
        )

    def row(self, claim: OfCall) -> Row | None:
        """The recorded call that the claim was read from: its first evidence, if that is one and of that group."""
        key = (claim.group, claim.evidence[0] if claim.evidence else "")
        if key not in self._rows:
            self._rows[key] = self._recorded(*key)
        return self._rows[key]

    def _recorded(self, label: str, evidence: str) -> Row | None:
        match = _CALL.match(evidence)
        if match is None:
            return None
        dump, record = map(int, match.groups())
        for group in self.groups(label):
            rows = self.of_group(group).filter((pl.col("dump") == dump) & (pl.col("record") == record))
            if rows.height:
                return rows.row(0, named=True)
        return None

    def cites_another(self, claim: OfCall) -> bool:
        """Whether its first evidence is a recorded call that is not the one it speaks of."""
        row = self.row(claim)
        if row is None:
            return bool(claim.evidence and _CALL.match(claim.evidence[0]))
        return claim.seq is not None and bool(row["seq"] != claim.seq)

    def belong(self, claim: OfCall) -> set[int]:
        """The claim's ranks that are in its group, as far as its members are known."""
        ranks, members = set(parse_ranks(claim.ranks)), self.listed(claim)
        return ranks & members if members else ranks

    def listed(self, claim: OfCall) -> set[int]:
        """The members of its group as the claim names them; empty where it does not."""
        _, _, listed = claim.group.removesuffix("]").rpartition(" [")
        return set(parse_ranks(listed) if "[" in claim.group else ())

    def fits(self, claim: OfCall, row: Row) -> bool:
        """Whether a recorded call is the one that the claim speaks of: by its number, operation and place."""
        if claim.seq is not None and row["seq"] != claim.seq:
            return False
        return self._same_op(claim, row["op"]) and self._same_place(claim, row["site"])

    def at(self, claim: OfCall, row: Row | None) -> pl.DataFrame:
        """All rows of the group at the number of that call; of a transfer, the call itself."""
        if row is None:
            parts = [
                self.of_group(g).filter(pl.coalesce("n", "seq") == claim.seq)
                for g in self.groups(claim.group)
                if claim.seq is not None
            ]
            return pl.concat(parts) if parts else self._numbered(self.case.calls.clear().select(_NEEDED))
        rows = self.of_group(row["group"])
        if row["is_p2p"]:
            return rows.filter((pl.col("dump") == row["dump"]) & (pl.col("record") == row["record"]))
        if row["n"] is None:
            # Not to be numbered: the oldest that is unfinished of each rank stands for it.
            return rows.filter(pl.col("open") & ~pl.col("is_p2p")).sort("record").unique("rank", keep="first")
        return rows.filter(pl.col("n") == row["n"])

    def such(self, claim: OfCall, rows: pl.DataFrame, place: bool = True) -> pl.DataFrame:
        """Those rows that have the claim's operation and, if asked for, its line."""
        ops = [op for op in rows["op"].cast(pl.String).unique().to_list() if self._same_op(claim, op)]
        found = rows.filter(pl.col("op").cast(pl.String).is_in(ops))
        if place and claim.file is not None:
            sites = [s for s in found["site"].unique().to_list() if self._same_place(claim, s)]
            found = found.filter(pl.col("site").is_in(sites, nulls_equal=True))
        return found

    def names(self, claim: OfCall, op: str) -> bool:
        """Whether a line's word for an operation is the claim's."""
        return claim.op is None or contract_of(op.lower()).op == contract_of(claim.op).op

    def asked_root(self, rank: int, op: str) -> str | None:
        """The root that a stack of the rank shows it to have asked for."""
        told = self.case.snapshots.filter(pl.col("rank") == rank)["asked"].drop_nulls().to_list()
        found = [match[1] for text in told if op in text and (match := _ROOT.search(text))]
        return found[-1] if found else None

    def _same_op(self, claim: OfCall, op: str | None) -> bool:
        if claim.op is None or op is None:
            return claim.op is None
        if claim.op.startswith("coalesced "):
            return op.lower().endswith("coalesced") or contract_of(op).op == claim.op.removeprefix(
                "coalesced "
            )
        return contract_of(op).op == claim.op

    def _same_place(self, claim: OfCall, site: int | None) -> bool:
        if claim.file is None:
            return True
        if site is None:
            return False
        frame = self.case.frames.filter(pl.col("frame") == site).row(0, named=True)
        return bool(frame["file"] == claim.file and frame["line"] == claim.line)

    def event(self, evidence: str) -> Row | None:
        """The line of a log behind an id."""
        match = _EVENT.match(evidence)
        if match is None:
            return None
        log, line = map(int, match.groups())
        rows = self.case.events.filter((pl.col("log") == log) & (pl.col("line") == line))
        return rows.row(0, named=True) if rows.height else None

    def members(self, group: int) -> set[int]:
        """As they are recorded; else whoever used it."""
        listed = self.case.groups.filter(pl.col("group") == group)["members"].to_list()[0]
        return set(listed if listed is not None else self.of_group(group)["rank"].to_list())

    def like(self, group: int) -> list[int]:
        """The groups of one description, as a mesh makes one for each of its rows."""
        desc = self.case.groups.filter(pl.col("group") == group)["desc"].to_list()[0]
        return self.case.groups.filter(pl.col("desc") == desc)["group"].to_list() if desc else [group]

    def last_common(self, one: int, other: int, before: int) -> tuple[int, int] | None:
        """The records of both ranks of the last collective that both have, before that record of the first."""
        calls = self.case.calls.filter(pl.col("rank").is_in([one, other]) & ~pl.col("is_p2p"))
        key = ["group", "seq"]
        mine = calls.filter((pl.col("rank") == one) & (pl.col("record") < before)).select(*key, "record")
        both = mine.join(calls.filter(pl.col("rank") == other).select(*key, theirs="record"), on=key)
        return both.sort("record").select("record", "theirs").row(-1) if both.height else None

    def told(self, claim: OfCall, ranks: Iterable[int]) -> pl.DataFrame:
        """The log lines of these ranks that speak of the group."""
        title = claim.group.rpartition(" [")[0] or claim.group.removesuffix(", members not told")
        names = {title}
        unnamed = pl.col("group_name").is_null() & pl.col("group_desc").is_null() & pl.col("pg_id").is_null()
        for group in self.groups(claim.group):
            names |= set(self.case.groups.filter(pl.col("group") == group).select("name", "desc").row(0))
        known = list(names - {"", "undefined", None})
        speaks = pl.col("group_name").is_in(known) | pl.col("group_desc").is_in(known)
        nameless = pl.col("group_name").is_null() & pl.col("group_desc").is_null()
        if title.startswith(UNNAMED):
            speaks = unnamed
        elif own := _OWN.match(title):
            speaks = nameless & (pl.col("pg_id") == int(own[1])) & (pl.col("rank") == int(own[2]))
        elif title == DEFAULT:
            # Until torch 2.5 a watchdog numbers its groups and names none: the first is that of all ranks.
            speaks |= nameless & (pl.col("pg_id") == 0)
        return self.case.events.filter(pl.col("rank").is_in(list(ranks)) & speaks)
