"""Findings of the sentinel in words: one line for a person, and the same for programs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

from rankandfile.capture.sentinel.divergence import CallDivergence
from rankandfile.capture.sentinel.history import Call
from rankandfile.capture.sentinel.ranks import Rank
from rankandfile.capture.sentinel.words import place
from rankandfile.model.digest import Finding, Frame, Group, Side
from rankandfile.model.ranks import brief_ranks, format_ranks

#: Of the sides of a finding, so many are told in its line.
_TOLD = 3
#: Of a list of ranks, so many characters.
LISTED = 80


def desync(divergence: CallDivergence, group: str, ranks: Mapping[int, Rank], now: float) -> Finding:
    """Of ranks of this node."""
    return diverged(
        divergence, group, name_of(group, ranks), lambda rank, call: path_of(ranks[rank], call.stack), now
    )


def diverged(
    divergence: CallDivergence,
    group: str,
    name: str,
    path: Callable[[int, Call], tuple[Frame, ...]],
    now: float,
) -> Finding:
    """`path`: the frames of a rank's call."""
    sides = [
        Side(ranks=format_ranks(side), call=call.words, path=path(side[0], call))
        for side, call in divergence.sides
    ]
    since = min(call.wall_ns for _, call in divergence.sides) / 1e9
    where = f"call {divergence.number} of {name}"
    told = "; ".join(_side(one) for one in sides[:_TOLD])
    more = f"; and {len(sides) - _TOLD} more ways" if len(sides) > _TOLD else ""
    if divergence.shows == divergence.number:
        words = f"ranks disagree: {where} is not the same call: {told}{more}"
    elif divergence.shows:
        words = (
            f"ranks disagree: {where} comes from different places: {told}{more}; "
            f"from call {divergence.shows} on they do not even ask for the same"
        )
    else:
        words = (
            f"ranks disagree, and nothing stops them: {where} comes from different places: {told}{more}; since then "
            "each call meets another one than it is meant for, and what they compute is wrong"
        )
    return Finding(
        id=id_of("desync", group, divergence.number),
        kind="desync",
        certainty="certain" if divergence.shows else "likely",
        words=words,
        since=since,
        time=now,
        group=group,
        sequence=divergence.number,
        ranks=format_ranks(divergence.odd),
        sides=tuple(sides),
    )


def path_of(rank: Rank, stack: int) -> tuple[Frame, ...]:
    return rank.reading.came(stack).frames


def name_of(group: str, ranks: Mapping[int, Rank]) -> str:
    return group_name(next(one.told[group] for one in ranks.values() if group in one.told))


def group_name(told: Group) -> str:
    plain = told.description if told.description not in ("", "undefined") else told.name
    return f"group {plain} [{brief_ranks(told.members, LISTED)}]"


def _side(side: Side, one: str = "calls", many: str = "call") -> str:
    several = "," in side.ranks or "-" in side.ranks
    return f"{ranks_told(side.ranks)} {many if several else one} {side.call} at {place(side.path)}"


def ranks_told(told: str) -> str:
    return f"rank{'s' if ',' in told or '-' in told else ''} {brief_ranks(told, LISTED)}"


def id_of(*told: object) -> str:
    return hashlib.sha256(repr(told).encode()).hexdigest()[:16]
