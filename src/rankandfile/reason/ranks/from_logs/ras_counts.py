"""How often each rank launched an operation in a communicator, as NCCL's RAS counts it.

A communicator's numbers are its own: they are ranks of the job where it spans the whole job, or where RAS names the
processes and an exit list does too.
"""

from __future__ import annotations

import polars as pl
from msgspec import Struct

from rankandfile.model.case import Case
from rankandfile.model.column import Row
from rankandfile.model.events import event_id
from rankandfile.reason.words import ranks_words

from .accounts import Accounts, fields_of
from .devices_and_processes import ranks_of_processes


class Launches(Struct, frozen=True):
    """One answer about one operation: what most launched, and those that launched another number."""

    comm: str
    op: str
    usual: int
    most: int
    """How many ranks launched the usual number."""
    numbers: dict[int, int]
    """What the others launched, by their numbers in the communicator."""
    of_rank: dict[int, int]
    """The others as ranks of the job; empty if any of them is not sure."""
    evidence: str
    again: tuple[str, ...]
    """Other answers that say the very same."""

    @property
    def listed(self) -> tuple[int, ...]:
        return tuple(self.numbers)

    @property
    def size(self) -> int:
        return self.most + len(self.listed)

    def words(self, ranks: tuple[int, ...]) -> str:
        """`512 launches of AllReduce on 7 ranks and 511 on rank 3`; `ranks` launched alike. The numbers stand as in
        the answer, to be found there."""
        return (
            f"{self.usual} launches of {self.op or 'collectives'} on {self.most} ranks and "
            f"{self.of_rank[ranks[0]]} on {ranks_words(ranks)}"
        )


def launches(case: Case, accounts: Accounts, world: int) -> list[Launches]:
    """What each answer of RAS says of launches: the usual count, and the ranks with another one."""
    found = case.events.filter(pl.col("kind").cast(pl.String) == "ras_mismatch").sort("log", "line")
    rows = [(row, counts) for row in found.iter_rows(named=True) if (counts := _counts(row)) is not None]
    alike = {counts[1] + len(counts[2]): set[object]() for _, counts in rows}
    for row, counts in rows:
        alike[counts[1] + len(counts[2])].add(fields_of(row).get("comm_id"))
    out: list[Launches] = []
    for row, counts in rows:
        usual, most, others = counts
        whole = most + len(others) == world == case.world_size and len(alike[most + len(others)]) == 1
        again = [
            event_id(other["log"], other["line"])
            for other, theirs in rows
            if other is not row and _about(other) == _about(row) and theirs == counts
        ]
        if (row["repeats"] or 1) > 1 and "last_line" in fields_of(row):
            again.append(event_id(row["log"], row["line"]))
        out.append(
            Launches(
                str(fields_of(row).get("comm_id", "")),
                row["op"] or "",
                usual,
                most,
                {n: one["count"] for n, one in others.items()},
                _ranks(case, accounts, others, world if whole else 0),
                event_id(row["log"], row["line"]),
                tuple(again),
            )
        )
    return out


def _counts(row: Row) -> tuple[int, int, dict[int, Row]] | None:
    """What most launched, how many they are, and the listed others by number in the communicator."""
    fields = fields_of(row)
    majority, listed = fields.get("majority"), fields.get("listed")
    if not isinstance(majority, list) or not isinstance(listed, list) or len(majority) != 1 or not listed:
        return None
    count, ranks = majority[0].get("count"), majority[0].get("ranks")
    if not isinstance(count, int) or not isinstance(ranks, int):
        return None
    others = {one["rank"]: one for one in listed if isinstance(one.get("count"), int)}
    return (count, ranks, others) if len(others) == len(listed) else None


def _about(row: Row) -> tuple[object, object]:
    """The communicator and the operation."""
    return fields_of(row).get("comm_id"), row["op"]


def _ranks(case: Case, accounts: Accounts, others: dict[int, Row], numbers_below: int) -> dict[int, int]:
    owners, hosts = ranks_of_processes(case.exits), accounts.hosts
    by_process: dict[int, int] = {}
    for one in others.values():
        found = {
            r for r in owners.get(one.get("pid", -1), set()) if r not in hosts or hosts[r] == one.get("host")
        }
        if len(found) == 1:
            by_process[found.pop()] = one["count"]
    if len(by_process) == len(others):
        return by_process
    return {number: one["count"] for number, one in others.items() if number < numbers_below}


def instead(count: Launches, counts: list[Launches]) -> Launches | None:
    """Another operation of that communicator, of which the same ranks have launched as many more: they made that call
    in the place of this one."""
    for other in counts:
        same = other.comm == count.comm and other.op != count.op and set(other.of_rank) == set(count.of_rank)
        if same and all(
            other.of_rank[rank] - other.usual == count.usual - n > 0 for rank, n in count.of_rank.items()
        ):
            return other
    return None


def missed_by_ras(events: pl.DataFrame, owners: dict[int, set[int]]) -> dict[int, tuple[str, bool]]:
    """Rank -> where RAS says that it does not answer, and whether it takes it for dead."""
    kinds = pl.col("kind").cast(pl.String).is_in(["ras_missing", "ras_dead"])
    out: dict[int, tuple[str, bool]] = {}
    for row in events.filter(kinds).sort("log", "line").iter_rows(named=True):
        listed = [p.get("pid") for p in fields_of(row).get("processes") or () if isinstance(p, dict)]
        for pid in (row["pid"], *listed):
            ranks = owners.get(pid, set()) if isinstance(pid, int) else set()
            if len(ranks) == 1:
                out.setdefault(
                    next(iter(ranks)), (event_id(row["log"], row["line"]), row["kind"] == "ras_dead")
                )
    return out
