"""From a loaded dump, of any format version, to a `RawDump`: the header here, the calls in `columns`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from rankandfile.evidence.flight.columns import fill
from rankandfile.evidence.flight.interning import Malformed, integer, text
from rankandfile.evidence.raw import GroupConfig, RawDump, RawNote, Run, Status, runs_of
from rankandfile.model.ranks import MOST_RANKS

#: Versions whose fields this decoder knows. Others are read as far as they are understood, and said so.
KNOWN_VERSIONS = re.compile(r"(1\.\d+|2\.([0-9]|10))$")

MAX_GROUPS = 1 << 17
#: Members of all groups of one dump together: a world of a million, or hundreds of groups of thousands.
MAX_MEMBERS_IN_ALL = 1 << 22
#: Runs of ranks at equal steps that these are: a group of a mesh is one.
MAX_RUNS_IN_ALL = 1 << 18

_TOP_LEVEL = {
    "version",
    "entries",
    "pg_config",
    "pg_status",
    "comm_lib_version",
    "nccl_version",
    "nccl_comm_state",
    "rank",
    "world_size",
    "host_name",
}


def decode_all(
    ranked: Iterable[tuple[int | None, Any]], format: str, truncated: bool = False
) -> tuple[list[RawDump], list[RawNote]]:
    """The dumps in these values, each with the rank that the file tells of it, and what could not be kept."""
    dumps: list[RawDump] = []
    notes: list[RawNote] = []
    for rank, value in ranked:
        dump, more = decode(value, format, truncated)
        notes += more
        if dump is not None:
            dump.rank = rank
            dumps.append(dump)
    return dumps, notes


def decode(value: Any, format: str, truncated: bool = False) -> tuple[RawDump | None, list[RawNote]]:
    """The dump in `value`, or None where it is no dump; what could not be kept goes to the notes."""
    if type(value) is not dict:
        return None, [RawNote("", f"not a dump: the file holds a {type(value).__name__}")]
    entries, first = value.get("entries", []), []
    if type(entries) is not list:
        first = [RawNote("entries", f"not a list but a {type(entries).__name__}: no call can be read")]
        entries = []
    dump, notes = with_calls(value, format, lambda dump, notes: fill(dump, entries, notes), truncated)
    return dump, [*first, *notes]


def with_calls(
    value: dict[str, Any],
    format: str,
    fill_calls: Callable[[RawDump, list[RawNote]], dict[str, int]],
    truncated: bool = False,
) -> tuple[RawDump, list[RawNote]]:
    """The dump with this header. `fill_calls` puts its calls into it, as `columns.fill` does."""
    notes: list[RawNote] = []
    dump = RawDump(format=format, truncated=truncated)
    dump.version = _text(value, "version", notes)
    dump.library = _text(value, "comm_lib_version", notes) or _text(value, "nccl_version", notes)
    if dump.version and not KNOWN_VERSIONS.match(dump.version):
        notes.append(RawNote("version", f"format {dump.version} is unknown: read as far as understood"))
    unknown = sorted(_shown(key) for key in value.keys() - _TOP_LEVEL)[:8]
    if unknown:
        notes.append(RawNote("", f"keys not understood, left unread: {', '.join(unknown)}"))
    dump.config = _config(value.get("pg_config"), notes)
    groups = fill_calls(dump, notes)
    dump.status = _status(value.get("pg_status"), groups, notes)
    return dump, notes


def _text(value: dict[str, Any], key: str, notes: list[RawNote]) -> str:
    found = value.get(key, "")
    try:
        return text(found)
    except Malformed as error:
        notes.append(RawNote(key, f"not readable: {error}"))
        return ""


def _config(config: Any, notes: list[RawNote]) -> list[GroupConfig]:
    if config is None:
        return []
    if type(config) is not dict or len(config) > MAX_GROUPS:
        notes.append(RawNote("pg_config", "not a table of groups: members are unknown"))
        return []
    groups: list[GroupConfig] = []
    room, runs = MAX_MEMBERS_IN_ALL, MAX_RUNS_IN_ALL
    for key, entry in config.items():
        try:
            group = _group(key, entry)
        except (Malformed, TypeError, ValueError, OverflowError) as error:
            notes.append(RawNote(f"pg_config[{_shown(key)}]", f"left out: {error}"))
            continue
        room -= sum(count for _, count, _ in group.runs or ())
        runs -= len(group.runs or ())
        if room < 0 or runs < 0:
            notes.append(
                RawNote(f"pg_config[{_shown(key)}]", "more members than any job has: read up to here")
            )
            break
        groups.append(group)
    return groups


def _shown(key: Any) -> str:
    """A key as a note may quote it: a stranger's key can be of any type and size."""
    return key[:40] if type(key) is str else str(key) if _is_small(key) else f"a {type(key).__name__}"


def _is_small(key: Any) -> bool:
    return type(key) is int and abs(key) < 1 << 62


def _group(key: Any, entry: Any) -> GroupConfig:
    if type(entry) is list:  # format 1.x: local number -> ranks
        return GroupConfig(f"#{integer(int(key))}", "", _members(entry))
    if type(entry) is not dict:
        raise Malformed(f"expected a group, found {type(entry).__name__}")
    return GroupConfig(
        text(entry.get("name", key)), text(entry.get("desc", "")), _members(entry.get("ranks"))
    )


def _members(ranks: Any) -> list[Run] | None:
    """Member ranks from a list, or from a list written as text, without evaluating anything."""
    if ranks is None:
        return None
    if type(ranks) is str:
        if len(ranks) > MOST_RANKS * 8:
            raise Malformed("a member list beyond any job's size")
        return list(_listed(ranks))
    if type(ranks) not in (list, tuple):
        raise Malformed(f"expected member ranks, found {type(ranks).__name__}")
    return runs_of(_sound([integer(rank) for rank in ranks[: MOST_RANKS + 1]]))


@lru_cache(maxsize=64)
def _listed(text: str) -> tuple[Run, ...]:
    """The members in a list that is written as text. All ranks of a job write the longest one alike."""
    body = text.strip().removeprefix("[").removesuffix("]").strip()
    return tuple(runs_of(_sound([int(word) for word in body.split(",")] if body else [])))


def _sound(members: list[int]) -> list[int]:
    if len(members) > MOST_RANKS:
        raise Malformed("more members than any job has ranks")
    if any(not 0 <= rank < MOST_RANKS for rank in members):
        raise Malformed("a member rank that no job has")
    return sorted(set(members))


def _status(status: Any, groups: dict[str, int], notes: list[RawNote]) -> list[Status]:
    if status is None:
        return []
    if type(status) is not dict:
        notes.append(RawNote("pg_status", f"not a table but a {type(status).__name__}"))
        return []
    found: list[Status] = []
    unplaced = 0
    for key, counters in status.items():
        group = groups.get(str(key)) if type(key) is str or _is_small(key) else None
        if group is None:
            unplaced += 1
            continue
        try:
            found.append(
                Status(
                    group,
                    _counter(counters, "last_enqueued_collective"),
                    _counter(counters, "last_started_collective"),
                    _counter(counters, "last_completed_collective"),
                )
            )
        except (Malformed, ValueError, AttributeError) as error:
            notes.append(RawNote(f"pg_status[{_shown(key)}]", f"left out: {error}"))
    if unplaced:
        # Without a call of the group in the ring, nothing says which group the number stands for.
        notes.append(RawNote("pg_status", f"{unplaced} counters belong to groups without a kept call"))
    return found


def _counter(counters: Any, key: str) -> int | None:
    value = counters.get(key)
    if value is None:
        return None
    if type(value) is str:  # JSON writes the counters as text
        value = int(value[:24])
    return integer(value) if value != -1 else None
