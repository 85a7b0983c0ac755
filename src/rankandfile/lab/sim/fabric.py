"""What the communicators do once ranks have launched their parts.

Collectives of a communicator pair by order of issue and by nothing else; sends pair with receives by source,
destination and order. Whether a pairing can finish is decided here from what each rank really asked for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from rankandfile.lab.sim.device import Clockwork, Node
from rankandfile.lab.sim.layout import Group
from rankandfile.lab.sim.ops import DTYPE_BYTES, UNEVEN_GATHER, Call, Shape, numel

_LATENCY_NS = 25_000
_BYTES_PER_NS = 120.0
#: What the transport takes in without the receiver: a broadcast's root is rid of that much and goes on.
_BUFFERED = 4 << 20


@dataclass
class Meeting:
    """One collective of one communicator, as far as ranks have launched it."""

    group: Group
    position: int
    parts: dict[int, tuple[Node, Call]] = field(default_factory=dict)


Part = tuple[Node, int, Callable[[int], None]]


class Fabric:
    """All communicators of the job. `stalled(group, position)` is the fault hook: that collective never ends.
    `alive(rank, time)` says whether the rank's process, and so its kernels, still exist."""

    def __init__(
        self,
        clock: Clockwork,
        seed: int,
        stalled: Callable[[Group, int], bool],
        alive: Callable[[int, int], bool],
    ) -> None:
        self._clock = clock
        self._seed = seed
        self._stalled = stalled
        self._alive = alive
        self._next: dict[tuple[int, int], int] = {}
        self._meetings: dict[tuple[int, int], Meeting] = {}
        self._ends: dict[tuple[object, ...], deque[Part]] = {}

    def issue(self, group: Group, rank: int) -> Meeting:
        """The next collective of this rank on that communicator, taken when the host enqueues it."""
        key = (group.index, rank)
        position = self._next.get(key, 0)
        self._next[key] = position + 1
        meeting = self._meetings.get((group.index, position))
        if meeting is None:
            meeting = self._meetings[group.index, position] = Meeting(group, position)
        return meeting

    def join(self, meeting: Meeting, node: Node, call: Call) -> None:
        """The rank's kernel runs now."""
        group = meeting.group
        if not self._alive(node.rank, node.ready_at):
            return
        meeting.parts[node.rank] = (node, call)
        root_may_go = call.op == "broadcast" and group.ranks[call.root] == node.rank
        if root_may_go and call_bytes(call) <= _BUFFERED and group.size > 1:
            self._clock.finish(node, node.ready_at + _LATENCY_NS)
        if len(meeting.parts) == group.size:
            del self._meetings[group.index, meeting.position]
            if not self._stalled(group, meeting.position):
                self._settle(meeting)

    def _settle(self, meeting: Meeting) -> None:
        parts = meeting.parts
        start = max(node.ready_at for node, _ in parts.values())
        if not all(self._alive(rank, start) for rank in parts):
            return
        calls = {rank: call for rank, (_, call) in parts.items()}
        first = next(iter(calls.values()))
        jitter = (self._seed * 7919 + meeting.group.index * 104_729 + meeting.position * 31_337) % 1009 / 1009
        took = int((_LATENCY_NS + call_bytes(first) / _BYTES_PER_NS) * (1 + 0.2 * jitter))
        for rank in finishing(meeting.group, calls):
            self._clock.finish(parts[rank][0], start + took)

    def transfer(
        self, key: tuple[object, ...], kind: str, node: Node, size: int, done: Callable[[int], None]
    ) -> None:
        """One end of a send; it is done when the other end is there, and both agree on the size."""
        if not self._alive(node.rank, node.ready_at):
            return
        waiting = self._ends.setdefault((*key, "recv" if kind == "send" else "send"), deque())
        if not waiting:
            self._ends.setdefault((*key, kind), deque()).append((node, size, done))
            return
        peer, peer_size, peer_done = waiting.popleft()
        start = max(node.ready_at, peer.ready_at)
        if size != peer_size or not self._alive(peer.rank, start) or not self._alive(node.rank, start):
            return  # one end waits for bytes that never come, or cannot get rid of its own
        time = start + _LATENCY_NS + int(size / _BYTES_PER_NS)
        self._clock.at(time, done)
        self._clock.at(time, peer_done)


def call_bytes(call: Call) -> int:
    width = DTYPE_BYTES[call.dtype]
    return max(numel(call.inputs), numel(call.outputs)) * width


def transfer_bytes(shape: Shape, dtype: str) -> int:
    return numel((shape,)) * DTYPE_BYTES[dtype]


def finishing(group: Group, calls: dict[int, Call]) -> list[int]:
    """Which members get to the end of a collective that all have launched, each with its own call.

    NCCL checks nothing: calls that move the same bytes along the same path go through, with wrong numbers when
    the types differ; anything else waits for ever. all_to_all is a bundle of sends, so it ends per member.
    """
    values = list(calls.values())
    if all(call.splits is not None for call in values):
        return _exchanged(group, calls)
    first = values[0]
    alike = all(call == first for call in values) or all(
        _path(call) == _path(first) and _moved(call) == _moved(first) and call.root == first.root
        for call in values
    )
    return list(calls) if alike else []


def _moved(call: Call) -> int:
    """Members may put in different amounts where each part is broadcast by its owner."""
    return numel(call.outputs) * DTYPE_BYTES[call.dtype] if call.op == UNEVEN_GATHER else call_bytes(call)


def _path(call: Call) -> str:
    """Calls of one path can be paired without NCCL noticing."""
    return "all_reduce" if call.op.startswith("all_reduce") else call.op


def _exchanged(group: Group, calls: dict[int, Call]) -> list[int]:
    done = []
    for i, rank in enumerate(group.ranks):
        mine = calls[rank]
        assert mine.splits is not None and mine.received is not None
        agreed = True
        for j, other in enumerate(group.ranks):
            theirs = calls[other]
            assert theirs.splits is not None and theirs.received is not None
            agreed &= mine.splits[j] == theirs.received[i] and mine.received[j] == theirs.splits[i]
        if agreed:
            done.append(rank)
    return done
