"""Who waits for whom by the watchdogs' lines alone, where there is not one dump."""

from __future__ import annotations

from collections import defaultdict

import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from rankandfile.model.case import Case, group_label
from rankandfile.model.claims import UNNAMED
from rankandfile.model.code_read import NO_CODE, CodeRead
from rankandfile.model.ranks import format_ranks
from rankandfile.reason.calls.logged_members import members_by_place
from rankandfile.reason.ranks.from_logs.accounts import Accounts, Report
from rankandfile.reason.ranks.from_logs.watchdog_reports import (
    DEFAULT,
    gave_up_rows,
    transfer_reports,
)
from rankandfile.reason.waits.graph import Pending, Waits, build


class LoggedGroup(Struct, frozen=True):
    name: str
    desc: str
    members: tuple[int, ...]
    """Of the default group every rank; of any other those that its lines name or imply, which may be too few."""
    whole: bool
    told: bool
    """Whether its members are told, and not only some of them."""
    even: bool = False
    """Whether it and its like, equally large, have between them all ranks of the job, each once."""

    @property
    def words(self) -> str:
        label = group_label(self.name, self.desc, list(self.members) if self.told else None)
        return label if self.told or self.whole or UNNAMED in label else f"{label}, members not told"

    @property
    def listed(self) -> str | None:
        return format_ranks(self.members) if self.told else None


class LoggedWaits(Struct, frozen=True):
    groups: tuple[LoggedGroup, ...]
    waits: Waits
    reports: dict[tuple[int, int], tuple[Report, ...]]
    """What was said of a call, by `key_of`."""
    far: dict[tuple[int, int], int]
    """Last number enqueued, by rank and number of the group, as far as anything tells."""
    latest: dict[tuple[int, int], int]
    """Last number at which it gave up, by rank and number of the group."""
    issued_ns: dict[int, int]
    """When the first of its members issued a pending call, by the call's index; as good as the lines' seconds."""

    def of_call(self, call: Pending) -> tuple[Report, ...]:
        return self.reports[key_of(call)]


def key_of(call: Pending) -> tuple[int, int]:
    """The key of its reports. A send or a receive is its rank's own, and has a number that no collective has."""
    return call.group, -1 - call.waiting[0] if call.slot is None else call.slot


def logged_waits(case: Case, accounts: Accounts, world: int, code: CodeRead = NO_CODE) -> LoggedWaits:
    """The graph of waits that the watchdogs' lines give: groups by name, pending calls by number."""
    names: dict[str, list[Report]] = defaultdict(list)
    moving = [report for report in transfer_reports(case.events) if report.rank not in accounts.gave_up]
    for report in (*accounts.reports, *moving):
        names[report.group].append(report)
    implied = dict(members_by_place((*accounts.reports, *moving), world))
    for name, reports in names.items():
        if laid_out := code.members_of(_desc(reports), {report.rank for report in reports}):
            implied[name] = laid_out
    told = {name: size for name, reports in names.items() if (size := _size(reports)) is not None}
    world = max([world, *(size for name, size in told.items() if DEFAULT in (name, _desc(names[name])))])
    # Whoever gave up on a send or a receive waits too, and is not silent.
    waits = accounts.gave_up | gave_up(case)
    silent = set(range(world)) - waits
    groups: list[LoggedGroup] = []
    said: dict[tuple[int, int], list[Report]] = defaultdict(list)
    far: dict[tuple[int, int], int] = {}
    latest: dict[tuple[int, int], int] = {}
    pending: list[Pending] = []
    for number, (name, all_of_it) in enumerate(sorted(names.items())):
        reports = [report for report in all_of_it if report not in moving]
        desc = _desc(all_of_it)
        whole = DEFAULT in (name, desc) or told.get(name) == world
        members = set(range(world)) if whole else {r.rank for r in all_of_it} | set(implied.get(name, ()))
        sure = name in told or ((whole or name in implied) and case.world_size is not None)
        listed = tuple(sorted(members))
        groups.append(
            LoggedGroup(name, desc, listed, whole, sure and told.get(name, len(listed)) == len(listed))
        )
        for report in reports:
            last = max((n for n in (report.enqueued, report.seq) if n is not None), default=None)
            if last is not None:
                far[report.rank, number] = max(last, far.get((report.rank, number), -1))
            if report.seq is not None:
                said[number, report.seq].append(report)
                latest[report.rank, number] = max(report.seq, latest.get((report.rank, number), -1))
        others = {
            r
            for other, listed in implied.items()
            if other != name and _desc(names[other]) == desc
            for r in listed
        }
        # Any rank that waits nowhere may be a member of a group that nobody lists.
        maybe = members if whole or name in implied else members | (silent - others)
        stuck = sorted(s for n, s in said if n == number)
        here = {r.rank for seq in stuck for r in said[number, seq]}
        pending += [_pending(number, seq, said[number, seq], maybe, far, waits - here) for seq in stuck]
        for report in all_of_it:
            if report in moving:
                said[number, -1 - report.rank] = [report]
                peers = tuple(sorted(maybe - {report.rank}))
                pending.append(Pending(number, None, (report.rank,), (), peers))
    groups = groups if case.world_size is None else _with_their_like(groups, world)
    reported = {key: tuple(r) for key, r in said.items()}
    return LoggedWaits(tuple(groups), build(pending), reported, far, latest, _issued(case, pending, reported))


def _with_their_like(groups: list[LoggedGroup], world: int) -> list[LoggedGroup]:
    """As a mesh lays out the groups of one of its axes: who would be missing in one of them would be in none."""
    alike: dict[str, list[LoggedGroup]] = defaultdict(list)
    for group in groups:
        alike[group.desc].append(group)
    even = {
        desc
        for desc, those in alike.items()
        if desc not in ("", "undefined")
        and len(those) > 1
        and len({len(group.members) for group in those}) == 1
        if sorted(rank for group in those for rank in group.members) == [*range(world)]
    }
    return [replace(group, even=group.desc in even) for group in groups]


def gave_up(case: Case) -> set[int]:
    """Ranks whose watchdogs gave up on anything: who waits in a send or a receive is not silent either."""
    return set(gave_up_rows(case.events)["rank"].to_list())


def _size(reports: list[Report]) -> int | None:
    """How many members a group has: a gather puts out as many parts as it has, a scatter takes in as many."""
    for report in reports:
        few, many = report.size_in, report.size_out
        if report.op is not None and report.op.lower().lstrip("_").startswith("reduce_scatter"):
            few, many = many, few
        elif report.op is None or not report.op.lower().lstrip("_").startswith("allgather"):
            continue
        if few and many and many % few == 0 and many >= few:
            return many // few
    return None


def _desc(reports: list[Report]) -> str:
    return next((r.desc for r in reports if r.desc), "")


def _pending(
    group: int,
    seq: int,
    reports: list[Report],
    members: set[int],
    far: dict[tuple[int, int], int],
    elsewhere: frozenset[int],
) -> Pending:
    """`elsewhere`: ranks whose watchdogs gave up on calls of other groups only."""
    waiting = {report.rank for report in reports}
    rest = sorted(members - waiting)
    return Pending(
        group=group,
        slot=seq,
        waiting=tuple(sorted(waiting)),
        lacking=tuple(rank for rank in rest if far.get((rank, group), seq) < seq),
        unknown=tuple(rank for rank in rest if (rank, group) not in far),
        # Its host ran on and issued this call too; its device has not come to it.
        busy=tuple(rank for rank in rest if far.get((rank, group), -1) >= seq and rank in elsewhere),
    )


def _issued(
    case: Case, pending: list[Pending], reports: dict[tuple[int, int], tuple[Report, ...]]
) -> dict[int, int]:
    """A watchdog gives up a fixed time after the call was issued, and says how long that was."""
    told = case.events.filter(
        (pl.col("kind") == "watchdog_timeout")
        & pl.col("time_ns").is_not_null()
        & pl.col("waited_ms").is_not_null()
    ).select("rank", "seq", "op", "time_ns", "waited_ms")
    began = {
        (rank, seq, op): time - waited * 1_000_000
        for rank, seq, op, time, waited in told.iter_rows()
        if waited >= 0
    }
    out: dict[int, int] = {}
    for index, call in enumerate(pending):
        times = [
            began[key]
            for report in reports[key_of(call)]
            if (key := (report.rank, report.seq, report.op)) in began
        ]
        if times:
            out[index] = min(times)
    return out
