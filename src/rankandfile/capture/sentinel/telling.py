"""Findings of the sentinel in words: one line for a person, and the same for programs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

from rankandfile.capture.sentinel.history import Call
from rankandfile.capture.sentinel.parting import Parted
from rankandfile.capture.sentinel.ranks import Rank
from rankandfile.capture.sentinel.waits import Missing, Waits
from rankandfile.capture.sentinel.words import place
from rankandfile.model.digest import Finding, Frame, Group, Side
from rankandfile.model.ranks import format_ranks

#: Of the sides of a finding, so many are told in its line.
_TOLD = 3


def desync(parted: Parted, group: str, ranks: Mapping[int, Rank], now: float) -> Finding:
    """Of ranks of this node."""
    return parting(
        parted, group, name_of(group, ranks), lambda rank, call: path_of(ranks[rank], call.stack), now
    )


def parting(
    parted: Parted, group: str, name: str, path: Callable[[int, Call], tuple[Frame, ...]], now: float
) -> Finding:
    """`path`: the frames of a rank's call."""
    sides = [
        Side(ranks=format_ranks(side), call=call.words, path=path(side[0], call))
        for side, call in parted.sides
    ]
    since = min(call.wall_ns for _, call in parted.sides) / 1e9
    where = f"call {parted.number} of {name}"
    told = "; ".join(_side(one) for one in sides[:_TOLD])
    more = f"; and {len(sides) - _TOLD} more ways" if len(sides) > _TOLD else ""
    if parted.shows == parted.number:
        words = f"ranks disagree: {where} is not the same call: {told}{more}"
    elif parted.shows:
        words = (
            f"ranks disagree: {where} comes from different places: {told}{more}; "
            f"from call {parted.shows} on they do not even ask for the same"
        )
    else:
        words = (
            f"ranks disagree, and nothing stops them: {where} comes from different places: {told}{more}; since then "
            "each call meets another one than it is meant for, and what they compute is wrong"
        )
    return Finding(
        id=id_of("desync", group, parted.number),
        kind="desync",
        certainty="certain" if parted.shows else "likely",
        words=words,
        since=since,
        time=now,
        group=group,
        sequence=parted.number,
        ranks=format_ranks(parted.odd),
        sides=tuple(sides),
    )


def missing(found: Missing, ranks: Mapping[int, Rank], now: float) -> Finding:
    waiting = _waiting_side(found.waiting, found.group, found.number, ranks)
    gone = Side(ranks=format_ranks(found.gone))
    words = (
        f"{_ranks(gone.ranks)} {'have' if len(found.gone) > 1 else 'has'} ended and will never come to call "
        f"{found.number} of {name_of(found.group, ranks)}, in which {_ranks(waiting.ranks)} "
        f"{'wait' if len(found.waiting) > 1 else 'waits'}: {waiting.call} at {place(waiting.path)}"
    )
    return Finding(
        id=id_of("missing", found.group, found.number, found.since), kind="missing", certainty="certain", words=words,
        since=found.since, time=now, group=found.group, sequence=found.number, ranks=gone.ranks,
        sides=(gone, waiting),
    )  # fmt: skip


def order(ring: Sequence[Waits], ranks: Mapping[int, Rank], now: float) -> Finding:
    sides = tuple(_waiting_side((one.rank,), one.group, one.number, ranks) for one in ring)
    told = "; ".join(
        f"rank {one.rank} waits for rank {after.rank} in {side.call} (call {one.number} of "
        f"{name_of(one.group, ranks)}) at {place(side.path)}"
        for one, after, side in zip(ring, [*ring[1:], ring[0]], sides, strict=True)
    )
    since = max(one.since for one in ring)
    return Finding(
        id=id_of("order", ring[0].group, ring[0].number, since), kind="order", certainty="likely",
        words=f"ranks wait for each other, and none can go on: {told}", since=since, time=now, group=ring[0].group,
        sequence=ring[0].number, ranks=format_ranks(one.rank for one in ring), sides=sides,
    )  # fmt: skip


def _waiting_side(waiting: Sequence[int], group: str, number: int, ranks: Mapping[int, Rank]) -> Side:
    first = ranks[waiting[0]]
    call = first.groups[group].at(number)
    return Side(
        ranks=format_ranks(waiting),
        call=call.words if call is not None else "",
        path=path_of(first, call.stack) if call is not None else (),
    )


def path_of(rank: Rank, stack: int) -> tuple[Frame, ...]:
    return rank.reading.came(stack).frames


def name_of(group: str, ranks: Mapping[int, Rank]) -> str:
    return group_name(next(one.told[group] for one in ranks.values() if group in one.told))


def group_name(told: Group) -> str:
    plain = told.description if told.description not in ("", "undefined") else told.name
    return f"group {plain} [{told.members}]"


def _side(side: Side, one: str = "calls", many: str = "call") -> str:
    several = "," in side.ranks or "-" in side.ranks
    return f"{_ranks(side.ranks)} {many if several else one} {side.call} at {place(side.path)}"


def _ranks(told: str) -> str:
    return f"rank{'s' if ',' in told or '-' in told else ''} {told}"


def id_of(*told: object) -> str:
    return hashlib.sha256(repr(told).encode()).hexdigest()[:16]
