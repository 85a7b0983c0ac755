"""One rank: its program, its streams, what its recorder kept, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from rankandfile.lab.sim.device import Node
from rankandfile.lab.sim.layout import Group
from rankandfile.lab.sim.ops import Call, Leave, Mark, Op, Program, Shape


class Signature(NamedTuple):
    """What of a call is the same each time it is issued."""

    group: int
    op: str
    inputs: tuple[Shape, ...]
    outputs: tuple[Shape, ...]
    dtype: str
    site: str
    is_p2p: bool = False


class Record(NamedTuple):
    """One entry of the rank's recorder. `node` is None for what was recorded without events."""

    what: Signature
    collective_seq: int
    p2p_seq: int
    op_id: int
    created: int
    node: Node | None


class Seen(NamedTuple):
    """A `Mark`, and where the rank stood when it came to it."""

    mark: Mark
    time: int
    next_seq: int  # of the group of the mark's call


class Blocked(NamedTuple):
    """What a host that goes no further is doing."""

    kind: str  # "sync", "barrier", "init", "work", "destroy"
    site: str
    group: Group | None = None


class Span(NamedTuple):
    """A long stay of the host somewhere."""

    start: int
    end: int
    where: Blocked


@dataclass
class Host:
    """The state of one rank. `clock` is its host thread's own time, which may run ahead of its device."""

    rank: int
    program: Program
    clock: int
    compute: Node | None = None
    streams: dict[tuple[int, ...], Node] = field(default_factory=dict)
    outstanding: list[Node] = field(default_factory=list)
    connected: set[tuple[int, ...]] = field(default_factory=set)
    again: Op | None = None  # the op to take up once a connection is made
    collective_seq: dict[int, int] = field(default_factory=dict)
    p2p_seq: dict[int, int] = field(default_factory=dict)
    op_id: dict[int, int] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)
    lines: list[tuple[int, str]] = field(default_factory=list)
    marks: list[Seen] = field(default_factory=list)
    blocked: Blocked | None = None
    spans: list[Span] = field(default_factory=list)
    ending: Leave | None = None
    ended_at: int | None = None  # when the program ended; `gone_at`: when the process did
    gone_at: int | None = None
    device_error: tuple[int, str] | None = None

    def bump(self, counter: dict[int, int], group: Group) -> int:
        value = counter.get(group.index, 0) + 1
        counter[group.index] = value
        return value

    def where(self, time: int) -> Blocked | None:
        """What the host was stuck in at that time, if it was; a host that ran on is nowhere in particular."""
        for span in self.spans:
            if span.start <= time < span.end:
                return span.where
        return self.blocked if self.clock <= time else None

    def record(self, call: Signature, created: int, node: Node | None) -> None:
        """Enter a call with the counters as they stand."""
        group = call.group
        self.records.append(
            Record(
                call, self.collective_seq.get(group, 0), self.p2p_seq.get(group, 0), self.op_id.get(group, 0),
                created, node,
            )
        )  # fmt: skip


def signature(call: Call, group: Group) -> Signature:
    return Signature(group.index, call.op, call.inputs, call.outputs, call.dtype, call.site)
