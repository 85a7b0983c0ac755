"""What the explorer shows, as plain rows: ranks, the calls of one, a stack, lines of source."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any, NamedTuple

import polars as pl
from msgspec import Struct, field
from msgspec.structs import replace

from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Diagnosis
from rankandfile.model.ranks import parse_ranks
from rankandfile.render.card.asked import Asked
from rankandfile.render.flat import flat_calls, stack_texts
from rankandfile.render.timeline import diverged_calls
from rankandfile.render.words import plain

from .never_made import never_made

MOST_RANKS = 1024
#: Calls of one rank that are at hand at a time: the last ones, and those around the divergence.
MOST_CALLS = 1500
_AROUND_SOURCE = 200
NEVER_MADE = "never made"

ReadSource = Callable[[str], "str | None"]


class Standing(NamedTuple):
    """Where a rank's host was when its stack was taken."""

    stack: int
    words: str


class RankRow(NamedTuple):
    rank: int
    role: str
    """culprit, victim; suspect, waits where nobody is to blame for sure; or nothing."""
    doing: str


class CallRow(NamedTuple):
    record: int
    group: str
    name: str
    """``all_reduce #812``"""
    state: str
    sizes: str
    site: str
    file: str
    line: int
    stack: str
    """Lines ``function  file:line``, innermost first."""
    diverged: bool
    """It is one of the calls at which the ranks diverged."""
    made_by: int | None = None
    """The rank never made it; stack and place are those of this other rank, which did."""

    def has(self, words: str) -> bool:
        told = f"{self.name} {self.group} {self.state} {self.sizes} {self.site} {self.stack}"
        return words in told.lower()


class ExplorerRows(Struct, frozen=True):
    case: Case
    diagnosis: Diagnosis
    read_source: ReadSource
    stands: dict[int, Standing] = field(default_factory=dict)
    asked: Asked = Asked()
    """How it was asked for: what goes on from there is typed so."""

    def ranks(self) -> tuple[list[RankRow], int]:
        """Culprits first, then in order; and how many are left out."""
        hangs = [verdict for verdict in self.diagnosis.verdicts if verdict.hang]
        doing = {one.rank: one.doing or "" for verdict in hangs for one in verdict.named}
        blamed = {one.rank for verdict in hangs for one in verdict.culprits}
        victims = {rank for verdict in hangs for rank in parse_ranks(verdict.victims)} - doing.keys()
        everyone = sorted({*doing, *victims, *self.case.ranks_seen, *self.stands})
        everyone.sort(key=lambda rank: rank not in doing)
        rows = [
            RankRow(
                rank,
                _role(rank, blamed, doing.keys(), victims),
                doing.get(rank) or (self.stands[rank].words if rank in self.stands else ""),
            )
            for rank in everyone[:MOST_RANKS]
        ]
        return rows, max(0, len(everyone) - MOST_RANKS)

    def calls(self, rank: int) -> list[CallRow]:
        calls = self.case.calls.filter(pl.col("rank") == rank).sort("record")
        diverged = self._diverged(calls)
        kept = _near(calls.height, [row for row, here in enumerate(diverged) if here])
        own = calls[kept]
        rows = [
            _row(row, diverged[number])
            for number, row in zip(kept, self._flat(own).iter_rows(named=True), strict=True)
        ]
        missed = never_made(self.case, self.diagnosis, rank)
        for row in self._flat(missed).iter_rows(named=True):
            later = own.select(
                (pl.col("group") == missed["group"][0]) & (pl.col("seq") >= missed["seq"][0])
            ).to_series()
            # Before what was made instead, and before what took its number.
            at = next((at for at, one in enumerate(rows) if one.diverged or later[at]), len(rows))
            rows.insert(at, _row(row, True)._replace(record=-1, state=NEVER_MADE, made_by=row["rank"]))
        return rows

    def _flat(self, calls: pl.DataFrame) -> pl.DataFrame:
        return flat_calls(self.case, calls, stacks=True)

    def _diverged(self, calls: pl.DataFrame) -> list[bool]:
        """Of each call, whether the ranks diverged there. A rank that no cohort cites has the call of that number."""
        cited = set(diverged_calls(self.diagnosis))
        own = [place in cited for place in calls.select("dump", "record").iter_rows()]
        if any(own) or not cited:
            return own
        dump, record = min(cited)
        there = self.case.calls.filter((pl.col("dump") == dump) & (pl.col("record") == record))
        number = set(there.filter(~pl.col("is_p2p")).select("group", "seq").iter_rows())
        return [place in number for place in calls.select("group", "seq").iter_rows()]

    def stack_of(self, rank: int) -> str:
        """Where the rank's host stood, as the calls' stacks are written; empty where nobody looked."""
        stand = self.stands.get(rank)
        if stand is None:
            return ""
        found = stack_texts(
            replace(self.case, stacks=self.case.stacks.filter(pl.col("stack") == stand.stack))
        )
        return str(found["text"][0]) if found.height else ""

    def source(self, file: str, line: int) -> list[tuple[int, str]]:
        """Numbered lines around that line; none where the file is not at hand."""
        text = self.read_source(file) if file else None
        if text is None:
            return []
        lines = text.splitlines()
        first = max(1, line - _AROUND_SOURCE)
        kept = lines[first - 1 : line + _AROUND_SOURCE]
        return [(number, plain(one.expandtabs(4))) for number, one in enumerate(kept, first)]


def _role(rank: int, blamed: Set[int], named: Set[int], waiting: Set[int]) -> str:
    if rank in named:
        return "culprit" if rank in blamed else "suspect"
    return ("victim" if blamed else "waits") if rank in waiting else ""


def _near(count: int, marks: list[int]) -> list[int]:
    """Rows to show of so many: the last ones, and those around the first mark."""
    if count <= MOST_CALLS:
        return list(range(count))
    middle = marks[0] if marks else count
    quarter = MOST_CALLS // 4
    around = range(max(0, middle - quarter), min(count, middle + quarter))
    return sorted({*around, *range(count - MOST_CALLS // 2, count)})


def _row(row: dict[str, Any], diverged: bool) -> CallRow:
    return CallRow(
        record=row["record"],
        group=row["group"] or "",
        name=_name(row),
        state=row["state"],
        sizes=row["sizes"] or "",
        site=row["site"] or "",
        file=row["file"] or "",
        line=row["line"] or 0,
        stack=row["stack"] or "",
        diverged=diverged,
    )


def _name(row: dict[str, object]) -> str:
    number = row["p2p_seq"] if row["is_p2p"] else row["seq"]
    name = str(row["op"])
    if row["is_p2p"] and row["src"] is not None and row["dst"] is not None:
        name += f" {row['src']}→{row['dst']}"
    return name if number is None else f"{name} #{number}"
