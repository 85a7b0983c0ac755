"""All that one file yielded, on its way from the process that decoded it."""

from __future__ import annotations

import msgspec

from rankandfile.evidence.exits.ends import End
from rankandfile.evidence.raw import RawDump, RawNote
from rankandfile.evidence.text.logs.raw import RawLog
from rankandfile.evidence.text.stacks.raw import RawStacks

#: The kind of a file that was not tried, or not kept.
UNREAD = "unread"


class Decoded(msgspec.Struct, array_like=True):
    """All that one file yielded: usually one dump, none for other kinds of file, several for aggregates."""

    kind: str = ""
    """What kind of file it is; empty until it has been read."""
    dumps: list[RawDump] = []
    notes: list[RawNote] = []
    stacks: RawStacks | None = None
    """The stacks in a file of stacks, or in a log."""
    log: RawLog | None = None
    sources: list[tuple[str, str]] = []
    """Source files that ran, and the hash of each."""
    ends: list[End] = []
    """How processes ended, as lists of them and what the system left behind tell."""
    seconds: float = 0.0
    """Processor time that it took."""
    bytes: int = 0
    """How much of an answer it was, as whoever asked counts."""


unpack_decoded = msgspec.msgpack.Decoder(list[Decoded]).decode
