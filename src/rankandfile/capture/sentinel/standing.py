"""In which calls each rank of a node stands, and who has not come to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rankandfile.capture.sentinel.ranks import Rank
from rankandfile.capture.sentinel.transfers import ANYBODY, Lane
from rankandfile.capture.sentinel.waits import Open, Waits
from rankandfile.wire import layout
from rankandfile.wire.layout import Record

#: How long a rank must have stood in a call before anything follows from it.
STANDS_S = 1.0
#: For so long the recorder has asked whether a send is over. It may be, with nobody to receive it, and then its process
#: may be too busy to say so.
ASKED_S = 0.5
#: Without a sign of life for so long, a process may be past the call, and too busy to say so.
SILENT_S = 3.0
#: The group of all ranks, as torch calls it: its members are in order.
WORLD = "default_pg"
#: What a rank may have begun, and wait for any of it.
MOST_BEGUN = 64


def waits_of(one: Rank, ranks: Mapping[int, Rank], now: float) -> Waits | None:
    """None for a rank that stands in no call, as far as its records tell."""
    newest = one.newest
    if newest is None or not one.seen.lives:
        return None
    since = newest.wall_ns / 1e9
    if now - max(since, one.moved) < STANDS_S:
        return None
    if newest.number in one.tail.open and (_waited_for(newest) or _blocks(one, newest, now)):
        return _waits(one, [newest], ranks, now, sure=True)
    if (seen := _in_wait(one, newest)) is not None:
        begun = list(one.tail.open.values())
        return _waits(one, begun, ranks, seen, sure=True) if 0 < len(begun) <= MOST_BEGUN else None
    if newest.number in one.tail.open and not newest.flags & layout.P2P:
        return _waits(one, [newest], ranks, now, sure=False)
    return None


def _waited_for(record: Record) -> bool:
    """A collective that its caller waits for at once, on the host."""
    return record.flags & (layout.SYNC | layout.ON_DEVICE | layout.P2P) == layout.SYNC


def _blocks(one: Rank, record: Record, now: float) -> bool:
    """A send or receive in host memory that does not return before it is over."""
    if record.flags & (layout.P2P | layout.ON_DEVICE) != layout.P2P or not one.reading.blocks(record.stack):
        return False
    head = one.tail.header
    if head is None or head.beat_ns - record.wall_ns < ASKED_S * 1e9:
        return False
    return now - head.beat_ns / 1e9 < SILENT_S


def _in_wait(one: Rank, newest: Record) -> float | None:
    """When its last sign of life said that the thread of its calls waits for something that was begun."""
    pulse = one.pulse
    if pulse is None or pulse.number < newest.number or not pulse.flags & layout.SYNC:
        return None
    # What ended after it may be what it was waiting for; and so may what is not in the ring any more.
    seen = pulse.wall_ns / 1e9
    return seen if pulse.thread == newest.thread and seen > one.moved and not one.tail.let_go else None


def _waits(
    one: Rank, records: list[Record], ranks: Mapping[int, Rank], seen: float, sure: bool
) -> Waits | None:
    """`seen`: when it was last known to stand there."""
    calls = [
        call
        for record in records
        if not _over(one, record, ranks, seen)
        for call in _open(one, record, ranks)
    ]
    newest = records[-1]
    alone = {*one.threads.values(), *one.transfers.threads} <= {newest.thread}
    return Waits(one.rank, tuple(calls), newest.wall_ns / 1e9, sure and alone) if calls else None


def _over(one: Rank, record: Record, ranks: Mapping[int, Rank], seen: float) -> bool:
    """A transfer that nobody has asked about yet, and whose other half was over for a while: so was this one."""
    lane, number = one.lanes.get(record.number, (None, 0))
    if lane is None or counted(one, lane, ranks) is None:
        return False
    sends = lane.source == one.rank
    peer = ranks[lane.target if sends else lane.source].transfers
    half = (peer.receives if sends else peer.sends).get(lane)
    return half is not None and half.over >= number and seen - half.over_at >= STANDS_S


def _open(one: Rank, record: Record, ranks: Mapping[int, Rank]) -> Iterator[Open]:
    """The call; several, where it needs one of several ranks."""
    if not record.flags & layout.P2P:
        joined = one.place(record)
        yield (
            Open(record.number, *joined, not_come(one.members.get(joined[0], ()), *joined, ranks))
            if joined
            else _unknown(record)
        )
        return
    lane, number = one.lanes.get(record.number, (None, 0))
    if lane is None:
        yield _unknown(record)
    elif lane.source == ANYBODY:
        for needs in _from_anybody(one, lane, number, ranks):
            yield Open(record.number, lane, number, needs)
    else:
        yield Open(record.number, lane, number, _other_half(one, lane, number, ranks))


def _unknown(record: Record) -> Open:
    """Of a group that was not told, or of a lane that is not counted: it may end."""
    return Open(record.number, "", 0)


def not_come(members: Iterable[int], group: str, number: int, ranks: Mapping[int, Rank]) -> tuple[int, ...]:
    """Of the members of a group, those on this node that have not come to a collective of it."""
    return tuple(
        rank
        for rank in members
        if rank in ranks and (group not in ranks[rank].groups or ranks[rank].groups[group].last < number)
    )


def _other_half(one: Rank, lane: Lane, number: int, ranks: Mapping[int, Rank]) -> tuple[int, ...]:
    """The rank that has not asked for the other half of a transfer; empty where it has, or nothing tells."""
    there = counted(one, lane, ranks)
    if there is None or there >= number:
        return ()
    return (lane.target if lane.source == one.rank else lane.source,)


def counted(one: Rank, lane: Lane, ranks: Mapping[int, Rank]) -> int | None:
    """For how many other halves the peer of this rank has asked in a lane; None where nothing tells."""
    sends = lane.source == one.rank
    other = lane.target if sends else lane.source
    peer = ranks.get(other)
    if peer is None or other == one.rank or one.transfers.blind:
        return None
    # Who has called nothing in a group has not said which of its members it is.
    if lane.group not in peer.made and one.told[lane.group].description != WORLD:
        return None
    if peer.made.get(lane.group, lane.made) != lane.made:
        return None
    return peer.transfers.received(lane) if sends else peer.transfers.sent(lane)


def _from_anybody(one: Rank, lane: Lane, number: int, ranks: Mapping[int, Rank]) -> list[tuple[int, ...]]:
    """Each of the ranks that may send what a receive takes from anybody; one of none, where it has been sent or nothing
    tells."""
    sources = [rank for rank in one.members.get(lane.group, ()) if rank != one.rank]
    lanes = [lane._replace(source=rank) for rank in sources]
    sent = [counted(one, single, ranks) for single in lanes]
    known = [count for count in sent if count is not None]
    if (
        len(known) < len(sent)
        or sum(known) >= number
        or any(single in one.transfers.receives for single in lanes)
    ):
        return [()]
    return [(rank,) for rank in sources]
