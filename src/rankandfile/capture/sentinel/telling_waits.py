"""Findings of ranks that wait for what cannot come, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rankandfile.capture.sentinel.ranks import Rank
from rankandfile.capture.sentinel.standing import counted
from rankandfile.capture.sentinel.telling import id_of, name_of, path_of, ranks_told
from rankandfile.capture.sentinel.transfers import ANYBODY, Lane, Unfit
from rankandfile.capture.sentinel.waits import Link, Missing, Open
from rankandfile.capture.sentinel.words import place
from rankandfile.model.digest import Finding, Side
from rankandfile.model.ranks import format_ranks


def missing(found: Missing, ranks: Mapping[int, Rank], now: float) -> Finding:
    call, many = found.call, len(found.waiting) > 1
    waiting = side_of(found.waiting, call, ranks)
    gone, who = Side(ranks=format_ranks(found.gone)), ranks_told(waiting.ranks)
    this = which(call, found.waiting[0], ranks)
    if isinstance(call.lane, Lane):
        sends = call.lane.source == found.waiting[0]
        never = f"{'receive' if sends else 'send'} what {who} waits for in {this}"
    else:
        never = f"come to {this}, in which {who} {'wait' if many else 'waits'}"
    words = (
        f"{ranks_told(gone.ranks)} {'have' if len(found.gone) > 1 else 'has'} ended and will never {never}: "
        f"{waiting.call} at {place(waiting.path)}"
    )
    return Finding(
        id=id_of("missing", *_place(call), found.since), kind="missing", certainty="certain", words=words,
        since=found.since, time=now, group=call.group, sequence=call.number, ranks=gone.ranks,
        sides=(gone, waiting),
    )  # fmt: skip


def order(circle: Sequence[Link], ranks: Mapping[int, Rank], now: float) -> Finding:
    sides = tuple(side_of((one.rank,), one.call, ranks) for one in circle)
    told = "; ".join(
        f"rank {one.rank} waits for rank {one.waits_for} in {side.call} ({which(one.call, one.rank, ranks)}) at "
        f"{place(side.path)}"
        for one, side in zip(circle, sides, strict=True)
    )
    since, first = max(one.since for one in circle), circle[0].call
    return Finding(
        id=id_of("order", *_place(first), since), kind="order", certainty="likely",
        words=f"ranks wait for each other, and none can go on: {told}", since=since, time=now, group=first.group,
        sequence=first.number, ranks=format_ranks(one.rank for one in circle), sides=sides,
    )  # fmt: skip


def misfit(found: Unfit, ranks: Mapping[int, Rank], now: float) -> Finding:
    lane = found.lane
    halves = ((lane.source, found.sent), (lane.target, found.received))
    sides = tuple(
        Side(ranks=str(rank), call=half.words, path=path_of(ranks[rank], half.stack)) for rank, half in halves
    )
    told = "; ".join(f"rank {side.ranks} calls {side.call} at {place(side.path)}" for side in sides)
    return Finding(
        id=id_of("desync", *lane, found.number), kind="desync", certainty="certain",
        words=f"ranks disagree: what rank {lane.source} sends is not what rank {lane.target} receives, in transfer "
        f"{found.number} between them in {_lane(lane, ranks)}: {told}",
        since=min(half.wall_ns for _, half in halves) / 1e9, time=now, group=lane.group, sequence=found.number,
        ranks="" if found.odd is None else str(found.odd), sides=sides,
    )  # fmt: skip


def side_of(waiting: Sequence[int], call: Open, ranks: Mapping[int, Rank]) -> Side:
    """`call` is the first one's."""
    first = ranks[waiting[0]]
    record = first.tail.open.get(call.record)
    if record is None:
        return Side(ranks=format_ranks(waiting))
    return Side(
        ranks=format_ranks(waiting),
        call=first.reading.asked(record).words,
        path=path_of(first, record.stack),
    )


def which(call: Open, rank: int, ranks: Mapping[int, Rank]) -> str:
    """Which one of its kind a call of this rank is: `call 5 of group ...`, `receive 5 from rank 1 in group ...`."""
    lane = call.lane
    if not isinstance(lane, Lane):
        return f"call {call.number} of {name_of(lane, ranks)}"
    sends = lane.source == rank
    other = lane.target if sends else lane.source
    whom = "anybody" if other == ANYBODY else f"rank {other}"
    there = counted(ranks[rank], lane, ranks) if other != ANYBODY else None
    so_far = "" if there is None else f", which has {'asked for' if sends else 'sent'} {there}"
    half = f"send {call.number} to" if sends else f"receive {call.number} from"
    return f"{half} {whom} in {_lane(lane, ranks)}{so_far}"


def _lane(lane: Lane, ranks: Mapping[int, Rank]) -> str:
    return name_of(lane.group, ranks) + (f" under tag {lane.tag}" if lane.tag else "")


def _place(call: Open) -> tuple[object, ...]:
    lane = call.lane
    return (*lane, call.number) if isinstance(lane, Lane) else (lane, call.number)
