"""Who waits for whom by the watchdogs' lines alone, where there is not one dump."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from rankandfile.model.case import group_label

from .testimony import Report, Testimony
from .waits import Pending, Waits, build

_DEFAULT = "default_pg"


@dataclass(frozen=True)
class Group:
    name: str
    desc: str
    members: tuple[int, ...]
    """Of the default group every rank; of any other those whose lines name it, which may be too few."""
    whole: bool

    @property
    def words(self) -> str:
        return group_label(self.name, self.desc, list(self.members))


@dataclass(frozen=True)
class Logged:
    groups: tuple[Group, ...]
    waits: Waits
    reports: dict[tuple[int, int], tuple[Report, ...]]
    """What was said of a call: by number of the group and of the call."""
    far: dict[tuple[int, int], int]
    """Last number enqueued, by rank and number of the group, as far as anything tells."""


def logged_waits(testimony: Testimony, world: int) -> Logged:
    names: dict[str, list[Report]] = defaultdict(list)
    for report in testimony.reports:
        names[report.group].append(report)
    groups: list[Group] = []
    said: dict[tuple[int, int], list[Report]] = defaultdict(list)
    far: dict[tuple[int, int], int] = {}
    pending: list[Pending] = []
    silent = set(range(world)) - testimony.gave_up
    for number, (name, reports) in enumerate(sorted(names.items())):
        desc = next((r.desc for r in reports if r.desc), "")
        whole = _DEFAULT in (name, desc)
        members = set(range(world)) if whole else {r.rank for r in reports}
        groups.append(Group(name, desc, tuple(sorted(members)), whole))
        for report in reports:
            last = max((n for n in (report.enqueued, report.seq) if n is not None), default=None)
            if last is not None:
                far[report.rank, number] = max(last, far.get((report.rank, number), -1))
            if report.seq is not None:
                said[number, report.seq].append(report)
        for seq in sorted(s for n, s in said if n == number):
            # Any rank that waits nowhere may be a member of a group that nobody lists.
            maybe = members if whole else members | silent
            pending.append(_pending(number, seq, said[number, seq], maybe, far))
    return Logged(tuple(groups), build(pending), {key: tuple(r) for key, r in said.items()}, far)


def _pending(
    group: int, seq: int, reports: list[Report], members: set[int], far: dict[tuple[int, int], int]
) -> Pending:
    waiting = {report.rank for report in reports}
    rest = sorted(members - waiting)
    return Pending(
        group=group,
        slot=seq,
        waiting=tuple(sorted(waiting)),
        lacking=tuple(rank for rank in rest if far.get((rank, group), seq) < seq),
        unknown=tuple(rank for rank in rest if (rank, group) not in far),
    )
