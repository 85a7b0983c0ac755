"""Which groups the job had, and which of them each dump's calls belong to.

A group is its name **and** its members. Names repeat: ranks that build different groups at the same moment give
them the same name, and one that was destroyed may be made again under its name (see `generations`). A process's own
group numbers are worse: they differ between ranks, and join nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple

from rankandfile.evidence.raw import Members
from rankandfile.evidence.tables.generations import Making, makings
from rankandfile.evidence.tables.part import Part
from rankandfile.model.ranks import format_ranks

#: Ranks without a dump are counted in as long as one in so many has left one: a single file of rank 1000 does
#: not make a job of 1001.
_MOST_ABSENT = 4


Name = tuple[str, int]
"""A group's name, and which making of it."""

Users = dict[Name, dict[str, set[int]]]
"""Name -> description -> the ranks that used a group of both."""


class RecordedGroup(NamedTuple):
    name: str
    desc: str
    members: Members | None
    members_from: str | None


class Membership(NamedTuple):
    groups: list[RecordedGroup]
    numbers: list[list[int]]
    """Per part, and per group of that part, the row in `groups`."""


def is_default(name: str, desc: str) -> bool:
    return desc == "default_pg" or (name == "0" and desc in ("", "undefined"))


def world_size(parts: Sequence[Part], listed: Collection[int] = ()) -> int | None:
    """Number of ranks: what a default group's configuration says, else the ranks seen, if they are dense.

    `listed`: ranks of processes that a list of exits tells of; they need not have recorded anything.
    """
    recorded = [
        len(config.members)
        for part in parts
        for config in part.raw.config
        # Format 1.x has numbers for names; a process's first group is the default one.
        if config.members and is_default(config.name.removeprefix("#"), config.desc)
    ]
    if recorded:
        return max(recorded)
    seen = {part.rank for part in parts if part.rank is not None} | set(listed)
    for part in parts:
        for config in part.raw.config:
            # gloo registers its groups before they have a name; the list is right all the same.
            if config.name == "" and config.runs and len(config.runs) == 1 and config.runs[0][::2] == (0, 1):
                seen.update(config.members or ())
    if not seen or max(seen) >= _MOST_ABSENT * len(seen):
        return None
    return max(seen) + 1


def membership(parts: Sequence[Part], world: int | None) -> Membership:
    recorded: dict[Name, set[Members]] = defaultdict(set)
    users: Users = defaultdict(lambda: defaultdict(set))
    made = makings(parts)
    configs = [_configured(part, of) for part, of in zip(parts, made, strict=True)]
    for part, config, of in zip(parts, configs, made, strict=True):
        for key, members in config.items():
            recorded[key].add(members)
        for (name, desc), making in zip(part.raw.groups, of, strict=True):
            if part.rank is not None and not making.own:
                users[name, making.nth][desc].add(part.rank)

    everybody = Members(range(world or 0))
    numbers: dict[tuple[str, Members | None, int | None, int], int] = {}
    groups: list[RecordedGroup] = []
    per_part: list[list[int]] = []
    for part, config, of in zip(parts, configs, made, strict=True):
        row: list[int] = []
        for (name, desc), making in zip(part.raw.groups, of, strict=True):
            found, members_from = _members(name, desc, part.rank, making, config, recorded, users, everybody)
            label = f"[{format_ranks(found)}]" if name.startswith("#") and found else name
            # A process's own number says nothing to others: without members, each rank's group stays its own.
            own = making.own or (name.startswith("#") and not found)
            same = (label, found, part.rank if own else None, making.nth)
            number = numbers.setdefault(same, len(groups))
            if number == len(groups):
                groups.append(RecordedGroup(label + making.words, desc + making.words, found, members_from))
            row.append(number)
        per_part.append(row)
    return Membership(groups, per_part)


def _configured(part: Part, made: Sequence[Making]) -> dict[Name, Members]:
    """Members by name as this dump's configuration has them, where it is worth something.

    gloo's has a single nameless entry that the last created group overwrote: it names no group.
    """
    latest = {name: one.nth for (name, _), one in zip(part.raw.groups, made, strict=True) if one.latest}
    return {
        (config.name, latest.get(config.name, 0)): config.members
        for config in part.raw.config
        if config.name and config.members
    }


def _members(
    name: str,
    desc: str,
    rank: int | None,
    making: Making,
    config: dict[Name, Members],
    recorded: dict[Name, set[Members]],
    users: Users,
    everybody: Members,
) -> tuple[Members | None, str | None]:
    if making.own:
        return None, None
    key = (name, making.nth)
    # A default group that is made again without some numbers its members anew: those numbers are no ranks of the job.
    whole = not making.nth or everybody in recorded[key]
    renumbered = is_default(name, desc) and not whole
    if not renumbered:
        if key in config:
            return config[key], "recorded"
        if not name.startswith("#"):
            # Another rank's configuration serves, if it is the only one of that name to have this rank in it.
            fitting = [members for members in recorded[key] if rank is None or rank in members]
            if len(fitting) == 1:
                return fitting[0], "recorded"
        if is_default(name, desc) and everybody:
            return everybody, "world"
    if name.startswith("#"):
        return None, None
    used = _by_whom(users[key], desc)
    return (Members(sorted(used)), "inferred") if used else (None, None)


def _by_whom(users: dict[str, set[int]], desc: str) -> set[int]:
    """Ranks that make different groups at once may give them one name, and each group its own description. A
    description that each rank makes up for itself sets no groups apart."""
    own = all(len(ranks) == 1 for ranks in users.values())
    return {rank for ranks in users.values() for rank in ranks} if own else users[desc]
