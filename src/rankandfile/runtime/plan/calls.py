"""One call about to be issued, as ranks compare it: what it asks for, and by which way of the program it came.

What equal calls have in common is worked out once for all of them, and found again by the stack and the arguments.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import FrameType
from typing import Any, NamedTuple

from rankandfile.runtime.guards.membership import Members
from rankandfile.runtime.plan.memory import Novelty
from rankandfile.runtime.plan.ways import Way, Ways
from rankandfile.runtime.recorder.operators import Operator
from rankandfile.runtime.recorder.stacks import MOST, walked
from rankandfile.runtime.recorder.tables import digest, tensors

#: Who waits for all others in it.
_ALL = ("allreduce", "allgather", "_allgather", "reduce_scatter", "_reduce_scatter", "alltoall", "barrier")
#: In these the others wait for the root, in those the root for the others.
_ROOT_GIVES, _ROOT_TAKES = ("broadcast_", "scatter_"), ("reduce_", "gather_")

#: Elements and type of each tensor.
Sizes = tuple[tuple[int, Any], ...]


@dataclass(frozen=True)
class Request:
    """What a call asks for; the same object for equal calls from the same place."""

    series: str
    """What its calls are numbered in: its group's collectives, or the messages of a sender to a receiver."""
    ranks: tuple[int, ...]
    """Who makes calls of the series; nobody where a message is taken from anybody."""
    group: str
    """In words."""
    op: str
    contract: int
    """What must be the same on all members: operation, sizes, root, reduction."""
    identity: int
    """What must be as it was in the plan: the contract, and the way."""
    sizeless: int
    """The same where sizes are dynamic."""
    way: Way
    waits_for: tuple[int, ...]
    """Whoever waits in it for long waits for these ranks' calls,"""
    for_all: bool
    """for each of them; else for some of them, and nobody knows for whom."""
    sync: bool
    """The caller waits for it at once, as far as the call tells."""
    message: int
    """Bytes to send or to receive; -1 for a collective."""

    @property
    def words(self) -> str:
        return f"{self.op} from {self.way.words}"


class Call(NamedTuple):
    request: Request
    identity: int
    """The request's, or its sizeless one."""
    number: int
    """Of its series, from 1."""
    novelty: Novelty
    at: float
    """When this rank came to it, in seconds since 1970."""


class Requests:
    """Those of this rank on one group."""

    def __init__(self, members: Members, ways: Ways) -> None:
        self._members, self._ways = members, ways
        self._known: dict[Any, Request] = {}

    def of(
        self, operator: Operator, arguments: tuple[Any, ...], reduction: int | None, frame: FrameType | None
    ) -> Request:
        """`reduction`: where it is known without asking the arguments, which takes long."""
        if reduction is None:
            reduction = int(arguments[operator.reduce_op].op()) if operator.reduce_op >= 0 else 0
        # Arguments at their default do not arrive here; this one's is asynchronous.
        sync = 0 <= operator.sync < len(arguments) and not arguments[operator.sync]
        peer = arguments[operator.peer] if operator.peer >= 0 else -1
        tag = arguments[-1] if operator.p2p else 0
        sizes = () if operator.free_sizes else _sizes(arguments[operator.inputs])
        stack = walked(frame)
        key = (operator.number, reduction, sync, peer, tag, sizes, stack)
        found = self._known.get(key)
        if found is None:
            found = self._request(operator, (peer, reduction, tag), sizes, self._ways.of(stack, frame), sync)
            if len(self._known) >= MOST:
                self._known.clear()
            if stack in self._ways:  # else its numbers may come to mean another stack
                self._known[key] = found
        return found

    def _request(
        self, operator: Operator, asked: tuple[int, int, int], sizes: Sizes, way: Way, sync: bool
    ) -> Request:
        members, (peer, reduction, tag) = self._members, asked
        series, ranks, message = members.ident, members.ranks, -1
        other = ranks[peer] if peer >= 0 else -1
        if operator.p2p:
            sent = operator.name == "send"
            series = f"{series}/{members.me}>{other}" if sent else f"{series}/{other}>{members.me}"
            series += f"/{tag}" * bool(tag)
            ranks = (members.me, other) if other >= 0 else ()
            message = sum(count * kind.itemsize for count, kind in sizes)
        bare = hash((operator.number, peer, reduction))
        # Not `hash`: texts have another in each process.
        contract = digest(repr((bare, [(count, str(kind)) for count, kind in sizes]))) if sizes else bare
        number = int(members.ident, 16)
        waits_for, for_all = _waits_for(operator, other, members)
        return Request(
            series=series,
            ranks=ranks,
            group=members.label,
            op=operator.name.strip("_"),
            contract=contract,
            identity=hash((number, contract, way.digest)),
            sizeless=hash((number, bare, way.digest)),
            way=way,
            waits_for=waits_for,
            for_all=for_all,
            sync=sync,
            message=message,
        )


def _sizes(inputs: Any) -> Sizes:
    if type(inputs) is list and len(inputs) == 1 and type(inputs[0]) is not list:
        return ((inputs[0].numel(), inputs[0].dtype),)
    return tuple([(tensor.numel(), tensor.dtype) for tensor in tensors(inputs)])


def _waits_for(operator: Operator, other: int, members: Members) -> tuple[tuple[int, ...], bool]:
    """Who must make it before it can end, and whether all of them; else it is some of them, where it does not end."""
    others = tuple(rank for rank in members.ranks if rank != members.me)
    if operator.p2p or (operator.name in _ROOT_GIVES and other != members.me):
        return ((other,) if other in others else ()), True
    return others, operator.name.startswith(_ALL) or (operator.name in _ROOT_TAKES and other == members.me)
