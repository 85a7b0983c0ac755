"""Giving each dump its rank: what its content says, else what its name says, checked against its groups."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from rankandfile.evidence.raw import INTEGERS, Members
from rankandfile.evidence.reading import Reading
from rankandfile.evidence.tables.part import Part
from rankandfile.model.ledger import NOBODYS, SET_ASIDE, Note
from rankandfile.model.ranks import format_ranks

from .one_for_all import without_one_for_all
from .owner_by_path import whose


def give_ranks(parts: Sequence[Part], reading: Reading) -> list[Note]:
    """Fill in rank and host of each part; notes where the name and the content disagree, or nothing tells."""
    notes: list[Note] = []
    owners = without_one_for_all(parts, whose([part.source for part in parts]))
    for part, owner in zip(parts, owners, strict=True):
        part.host = owner.host
        if reading.prefix is not None:
            owner = owner._replace(rank=_after(reading.prefix, part.source), rank_from="prefix")
            owner = owner._replace(doubt=f"no rank follows '{reading.prefix}' in its name")
        if reading.replica_ranks and owner.rank is not None:
            _make_global(part, owner.rank // reading.replica_ranks * reading.replica_ranks)
        candidates = possible_ranks(part)
        if part.raw.rank is not None:
            part.rank, part.rank_from = part.raw.rank, "content"
        elif owner.rank is not None:
            part.rank, part.rank_from = owner.rank, owner.rank_from or "name"
        elif candidates is not None and len(candidates) == 1:
            # A process lists only groups that it is in: if they share one rank, it is this one.
            part.rank, part.rank_from = next(iter(candidates)), "its groups"
        if part.rank is None:
            part.set_aside = f"nothing tells its rank{f' ({owner.doubt})' if owner.doubt else ''}"
            notes.append(Note(file=part.source, where="", what=f"{SET_ASIDE}{part.set_aside}"))
        elif candidates is not None and part.rank not in candidates:
            what = (
                f"named as rank {part.rank}, but its groups are those of "
                f"{'rank' if len(candidates) == 1 else 'ranks'} {format_ranks(candidates) or 'nobody'}"
            )
            notes.append(Note(file=part.source, where="pg_config", what=what))
    return notes + _twins(parts)


def _twins(parts: Sequence[Part]) -> list[Note]:
    """Files of one content under several ranks' names: at most one of them is where it belongs."""
    perhaps: dict[object, list[Part]] = defaultdict(list)
    for part in parts:
        times = part.span("created_ns")
        if times and times[0] > 0 and part.rank is not None and part.set_aside is None:
            perhaps[part.raw.calls, part.span("record"), times].append(part)
    alike: dict[object, list[Part]] = defaultdict(list)
    for some in perhaps.values():
        if len(some) > 1:
            for part in some:
                numbers = (part.column(name).astype(np.int64).tobytes() for name in INTEGERS)
                # Clocks may be coarse, or set alike: only calls that are the same in everything are one file's.
                alike[part.raw.repeats, part.raw.kinds, tuple(numbers)].append(part)
    return [
        note
        for same in alike.values()
        if len({part.rank for part in same if part.rank is not None}) > 1
        for note in _told_apart(same)
    ]


def _told_apart(same: Sequence[Part]) -> list[Note]:
    """A process has calls in its own groups only: these may tell whose the calls are. Else they are nobody's: what is
    said of a rank by another's calls is not so."""
    candidates = possible_ranks(same[0])
    owners = {part.rank for part in same if candidates is not None and part.rank in candidates}
    notes = []
    for part in same:
        if len(owners) == 1 and part.rank in owners:
            continue
        other = next(
            one for one in same if one.rank != part.rank and (len(owners) != 1 or one.rank in owners)
        )
        ranks = format_ranks({one.rank for one in same if one.rank is not None})
        part.set_aside = f"the same calls, made at the same times, as {other.source}: " + (
            f"their groups are those of rank {other.rank}" if len(owners) == 1 else f"ranks {ranks} {NOBODYS}"
        )
        notes.append(Note(file=part.source, where="", what=f"{SET_ASIDE}{part.set_aside}"))
    return notes


def possible_ranks(part: Part) -> frozenset[int] | None:
    """The ranks that are in every group that the dump's configuration names; None if it names no usable one."""
    members = {config.members for config in part.raw.config if config.name and config.members}
    if not members:
        return None
    # The smallest group first: the world itself is looked at in every dump, and never gone through.
    smallest, *others = sorted((_set_of(ranks) for ranks in members), key=len)
    return smallest.intersection(*others) if others else smallest


@lru_cache(maxsize=1 << 17)
def _set_of(members: Members) -> frozenset[int]:
    return frozenset(members)


def _after(prefix: str, source: str) -> int | None:
    match = re.search(re.escape(prefix) + r"(\d{1,9})", source.rsplit("/", 1)[-1])
    return int(match[1]) if match else None


def _make_global(part: Part, first_rank: int) -> None:
    for config in part.raw.config:
        if config.desc == "default_pg" and config.runs:
            config.runs = [(first + first_rank, count, step) for first, count, step in config.runs]
