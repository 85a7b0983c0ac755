"""Sends and receives of one rank, in the order in which they meet.

The n-th send from one rank to another meets the n-th receive of it there, in each group and under each tag. So numbers
are enough to tell whether the other half of a transfer was ever asked for. Where they could be wrong, as records were
lost or the members of a group were not told, nothing is said.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from rankandfile.reason.calls.contracts import elements
from rankandfile.wire.layout import OPERATORS

#: Lanes of a rank that are counted: a program that makes up a tag for each step has no end of them. Of each, so many
#: transfers are kept whose sizes are not compared yet.
MOST_LANES, KEPT = 4096, 16
#: Threads that are told apart.
MOST_THREADS = 16
#: In place of a rank: the receive takes what comes, from whomever.
ANYBODY = -1

SEND, RECEIVE, RECEIVE_ANY = (OPERATORS.index(name) for name in ("send", "recv_", "recv_any_source_"))

#: Bytes of one element, by the name of its dtype.
_WIDTHS = {
    **dict.fromkeys(("Byte", "Char", "Bool"), 1),
    **dict.fromkeys(("Half", "BFloat16", "Short"), 2),
    **dict.fromkeys(("Float", "Int"), 4),
    **dict.fromkeys(("Double", "Long", "ComplexFloat"), 8),
    "ComplexDouble": 16,
}


class Lane(NamedTuple):
    """Transfers that keep their order among themselves."""

    group: str
    made: int
    """How often the group has been made anew: its counts begin again."""
    source: int
    target: int
    tag: int
    device: bool


class Transfer(NamedTuple):
    """One half of one, as a rank asked for it."""

    number: int
    """In its lane, from 1."""
    size: int
    """In bytes; 0 for unknown."""
    words: str
    stack: int
    wall_ns: int


@dataclass
class Queue:
    """A rank's own halves in one lane."""

    count: int = 0
    newest: deque[Transfer] = field(default_factory=lambda: deque(maxlen=KEPT))
    compared: int = 0
    """Up to this number they are known to fit, or not to be known."""
    over: int = 0
    """Up to this number they have been seen to be over, and the newest of them when: a lane ends them in order."""
    over_at: float = 0.0

    def at(self, number: int) -> Transfer | None:
        return next((one for one in self.newest if one.number == number), None)


@dataclass
class Transfers:
    """All of one rank."""

    sends: dict[Lane, Queue] = field(default_factory=dict)
    receives: dict[Lane, Queue] = field(default_factory=dict)
    new: set[Lane] = field(default_factory=set)
    """Lanes in which something was asked for since somebody has looked."""
    threads: set[int] = field(default_factory=set)
    """Who has made any; of very many, some."""
    blind: bool = False
    """Some were not seen, or failed, or nobody knows with whom they were: no number can be trusted any more."""

    def add(self, op: int, lane: Lane, transfer: Transfer) -> int:
        """Its number in its lane; 0 where it is not counted."""
        queues = self.sends if op == SEND else self.receives
        queue = queues.get(lane)
        if queue is None:
            if len(queues) >= MOST_LANES:
                return 0
            queue = queues[lane] = Queue()
        queue.count += 1
        queue.newest.append(transfer._replace(number=queue.count))
        self.new.add(lane)
        return queue.count

    def end(self, op: int, lane: Lane, number: int, now: float) -> None:
        queue = (self.sends if op == SEND else self.receives)[lane]
        if number > queue.over:
            queue.over, queue.over_at = number, now

    def sent(self, lane: Lane) -> int | None:
        """How many it has sent; None for unknown."""
        return self._count(self.sends, lane)

    def received(self, lane: Lane) -> int | None:
        """How many it has asked for. Who takes from anybody, too, may have taken any of them by that."""
        takes_any = any(self.receives.get(one) for one in {lane._replace(source=ANYBODY)} - {lane})
        return None if takes_any else self._count(self.receives, lane)

    def _count(self, queues: dict[Lane, Queue], lane: Lane) -> int | None:
        if self.blind or (lane not in queues and len(queues) >= MOST_LANES):
            return None
        return queues[lane].count if lane in queues else 0


def size_of(shape: list[object] | None) -> int:
    """The bytes of a message, by its row in the ring's table; 0 for unknown."""
    if shape is None or len(shape) < 2:
        return 0
    sizes, dtypes = shape[:2]
    try:
        return sum(
            count * _WIDTHS[dtype]
            for count, dtype in zip(elements(sizes), dtypes, strict=True)  # type: ignore[call-overload,arg-type]
        )
    except (TypeError, KeyError, ValueError):
        return 0


class Unfit(NamedTuple):
    """A send and the receive that it meets, of sizes that cannot be one transfer."""

    lane: Lane
    number: int
    sent: Transfer
    received: Transfer
    odd: int | None
    """The rank whose size is another one than so far, where the other's is as ever."""


def unfit(lane: Lane, sends: Queue, receives: Queue) -> Unfit | None:
    """The first one that was not looked at yet. In host memory a receive may have room to spare."""
    end = min(sends.count, receives.count)
    for number in range(max(receives.compared, end - KEPT) + 1, end + 1):
        receives.compared = number
        one, other = sends.at(number), receives.at(number)
        if one is None or other is None or not one.size or not other.size:
            continue
        if one.size > other.size or (lane.device and one.size != other.size):
            usual = [_as_ever(queue, number) for queue in (sends, receives)]
            odd = {(False, True): lane.source, (True, False): lane.target}.get((usual[0], usual[1]))
            return Unfit(lane, number, one, other, odd)
    return None


def _as_ever(queue: Queue, number: int) -> bool:
    """Whether a transfer is as large as all that are known before it."""
    here = queue.at(number)
    before = {one.size for one in queue.newest if one.number < number}
    return here is not None and before == {here.size}
