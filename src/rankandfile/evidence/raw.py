"""What a decoder makes of one dump: columns as bytes, and everything that repeats stored once.

This is what travels from a decoding process to the one that assembles the case, so it holds bytes and small
tables, never an object per call. Decoding processes import only this module's dependencies: no Polars.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import msgspec

#: Integer columns of a call, in the order in which decoders produce them (64 bits each).
INTEGERS = ("record", "seq", "p2p_seq", "op_id", "created_ns", "started_ns", "completed_ns")

#: Stands for "not recorded" in an integer column; no counter or clock reaches it.
NULL = -(1 << 63)


class Frame(msgspec.Struct, array_like=True, frozen=True):
    function: str
    file: str
    line: int


class Shape(msgspec.Struct, array_like=True, frozen=True):
    in_sizes: tuple[tuple[int, ...], ...]
    in_dtypes: tuple[str, ...]
    out_sizes: tuple[tuple[int, ...], ...]
    out_dtypes: tuple[str, ...]


class Kind(msgspec.Struct, array_like=True, frozen=True):
    """All of a call that is neither a counter nor a time: calls of one kind share it."""

    name: str
    group: int
    thread: int
    shape: int
    stack: int | None
    state: str
    retired: bool
    is_p2p: bool
    timeout_ms: int | None


class Repeats(msgspec.Struct, array_like=True):
    """What repeats within a dump. Ranks that behave alike have byte-identical ones."""

    kinds: list[Kind] = []
    shapes: list[bytes] = []
    """Each a `Shape`, packed: as objects, the sizes of many tensors take forty times the room."""
    stacks: list[tuple[int, ...]] = []
    frames: list[Frame] = []


class Members(tuple[int, ...]):
    """Member ranks of a group. Many ranks name the whole world, so there is one object per list (see `members_of`),
    and its hash looks at the ends only: hashing sixteen thousand numbers for each of as many ranks is minutes."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash((len(self), self[:1], self[-1:]))


#: Ranks that follow each other at equal steps: first, how many, step.
Run = tuple[int, int, int]


def runs_of(members: Sequence[int]) -> list[Run]:
    """A list of ranks as it travels: groups of a mesh are one run each."""
    runs: list[Run] = []
    at = 0
    while at < len(members):
        step = members[at + 1] - members[at] if at + 1 < len(members) else 1
        end = at + 1
        while end < len(members) and members[end] - members[end - 1] == step:
            end += 1
        runs.append((members[at], end - at, step))
        at = end
    return runs


@lru_cache(maxsize=1 << 17)
def members_of(runs: tuple[Run, ...]) -> Members:
    return Members(first + step * n for first, count, step in runs for n in range(count))


class GroupConfig(msgspec.Struct, array_like=True):
    """A group as the dump's own configuration describes it."""

    name: str
    desc: str
    runs: list[Run] | None
    """The member ranks, as `runs_of` writes them."""

    @property
    def members(self) -> Members | None:
        return None if self.runs is None else members_of(tuple(self.runs))


class Status(msgspec.Struct, array_like=True):
    """The producer's counters of one group, which the dump names by a number of its own."""

    group: int
    last_enqueued: int | None
    last_started: int | None
    last_completed: int | None


class RawNote(msgspec.Struct, array_like=True):
    where: str
    what: str


class RawDump(msgspec.Struct, array_like=True):
    format: str
    version: str = ""
    library: str = ""
    rank: int | None = None
    """Only where the content itself says whose dump it is."""
    truncated: bool = False
    has_frames: bool = False
    calls: int = 0
    left_out: int = 0
    """Entries that could not be kept."""
    groups: list[tuple[str, str]] = []
    """(name, description) of each group that calls or counters refer to by position; one that was made twice, twice."""
    config: list[GroupConfig] = []
    status: list[Status] = []
    threads: list[str] = []
    repeats: bytes = b""
    """A `Repeats`, packed: equal bytes need unpacking only once."""
    kinds: bytes = b""
    """Kind of each call, unsigned; of as many bytes each as there are."""
    integers: list[bytes] = []
    """The columns of `INTEGERS`: signed numbers of 64 bits, or unsigned ones of fewer; empty where none is recorded."""
    durations_ms: bytes = b""
    """Doubles, NaN where not recorded; empty where no call has one."""


pack = msgspec.msgpack.Encoder().encode
unpack_repeats = msgspec.msgpack.Decoder(Repeats).decode
unpack_shape = msgspec.msgpack.Decoder(Shape).decode
