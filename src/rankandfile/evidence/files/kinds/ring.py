"""A ring of the recorder's: calls, stacks of a quiet process, and the source files that ran."""

from __future__ import annotations

from pathlib import Path

from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.files.kind import FileKind, Sign
from rankandfile.evidence.flight import header
from rankandfile.evidence.ring import as_ring
from rankandfile.wire.layout import MAGIC


def decode(path: Path, _name: str) -> Decoded:
    ring = as_ring.load(path)
    dumps, notes = header.decode_all([(ring.rank, ring.dump)] if ring.dump is not None else [], "ring")
    return Decoded(dumps=dumps, notes=[*ring.notes, *notes], stacks=ring.stacks, sources=ring.sources)


KIND = FileKind("ring", (Sign(10, lambda head: head.data.startswith(MAGIC)),), decode, is_dump=True)
