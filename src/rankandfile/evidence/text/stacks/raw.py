"""What a decoder makes of one file of stacks: threads as small records, stacks and frames stored once.

Travels from a decoding process to the one that assembles the case; see `rankandfile.evidence.raw`.
"""

from __future__ import annotations

import msgspec

from rankandfile.evidence.raw import RawNote
from rankandfile.evidence.text.told import Told

#: Values of `RawThread.shows`, see `rankandfile.model.snapshots`.
NOW, DIED, RAISED, ISSUED = "now", "died", "raised", "issued"


class RawProcess(msgspec.Struct, array_like=True):
    """One snapshot of one process: all its threads at one moment."""

    rank: int | None = None
    """Only where the content itself says whose stack it is."""
    rank_from: str = ""
    host: str | None = None
    pid: int | None = None
    parent: int | None = None
    at_ns: int | None = None
    error: str = ""
    """The fatal error that made the process print its stacks."""
    place: int | None = None
    """Its number among those of its machine or launcher, by a prefix: the rank only where there is one machine."""
    ranks: list[int] = []
    """What variables in its stacks call the rank: its own, where all others tell another one."""


class RawThread(msgspec.Struct, array_like=True):
    line: int
    process: int
    """Position in `RawStacks.processes`."""
    stack: int | None
    """Position among the stacks of `RawStacks.repeats`."""
    shows: str = NOW
    thread_id: int | None = None
    os_thread: int | None = None
    name: str = ""
    role: str = "other"
    active: bool | None = None
    owns_gil: bool | None = None
    native: bool = False
    cut: bool = False
    code: str = ""
    error: str = ""
    follows: int | None = None
    locals: str = ""
    asked: str = ""


class RawStacks(msgspec.Struct, array_like=True):
    """All stacks of one file."""

    formats: list[str] = []
    processes: list[RawProcess] = []
    threads: list[RawThread] = []
    repeats: bytes = b""
    """A `rankandfile.evidence.raw.Repeats` with stacks and frames only, packed: ranks that hang alike have
    equal bytes, which need unpacking only once."""
    unanswered: list[int] = []
    """Ranks that the debug server asked in vain."""
    notes: list[RawNote] = []
    told: Told = Told()
    """What the lines between the stacks say of processes."""
