"""The document that stands for a dump, a file of several dumps, or a ring."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from rankandfile.evidence.raw import Frame, Kind, RawNote, Run, Shape, Status
from rankandfile.model.ranks import MOST_RANKS

#: A file's first bytes. The number is that of the form: what a later one means, this version does not know.
SIGN = b"\x93raf condensed "
FORM = b"1\n"

#: Times are kept to so many nanoseconds, but for those that `times` keeps as they are.
UNIT_NS = 1_000_000

Number = Annotated[int, Meta(ge=-(1 << 62), le=1 << 62)]
Index = Annotated[int, Meta(ge=0, lt=1 << 32)]
Rank = Annotated[int, Meta(ge=0, lt=MOST_RANKS)]


class Sparse(msgspec.Struct, array_like=True, frozen=True):
    """Values of few calls: which calls, each by how many it comes after the one before, and their values."""

    after: list[Index] = []
    values: list[Number] = []


class Group(msgspec.Struct, array_like=True):
    name: str
    desc: str
    runs: list[Run] | None


class Dump(msgspec.Struct, omit_defaults=True):
    format: str
    version: str = ""
    library: str = ""
    rank: Rank | None = None
    truncated: bool = False
    has_frames: bool = False
    left_out: Annotated[int, Meta(ge=0, le=1 << 40)] = 0
    groups: list[tuple[str, str]] = []
    config: list[Group] = []
    status: list[Status] = []
    threads: list[str] = []
    frames: list[Frame] = []
    stacks: list[list[Index]] = []
    shapes: list[Shape] = []
    kinds: list[Kind] = []
    calls: list[Index] = []
    """The kind of each call."""
    numbers: dict[str, list[Number | None]] = {}
    """Of each call, by how much it is above the call before of its group; nothing where none has the number."""
    made: list[Number | None] = []
    """When each call was made, in `UNIT_NS`: what it is above the call before."""
    rest_ns: Sparse = Sparse()
    """What is to be added to that."""
    started_ns: Sparse = Sparse()
    completed_ns: Sparse = Sparse()
    durations_ms: list[tuple[Index, float]] = []


class Stood(msgspec.Struct, omit_defaults=True):
    """Where the main thread stood while it recorded nothing, or what it raised: see `ring.pulses`."""

    frames: list[Frame]
    line: Number
    rank: Rank | None = None
    rank_from: str = ""
    host: str | None = None
    pid: Number | None = None
    parent: Number | None = None
    at_ns: Number | None = None
    name: str = ""
    raised: str | None = None


class Document(msgspec.Struct, omit_defaults=True):
    dumps: list[Dump] = []
    notes: list[RawNote] = []
    """What could not be kept when the file was read first."""
    stood: list[Stood] = []
    sources: list[tuple[str, str]] = []


def written(document: Document) -> bytes:
    return SIGN + FORM + msgspec.msgpack.encode(document)


unpack = msgspec.msgpack.Decoder(Document).decode
