"""Python's reader of pickled dumps against the native one, on the same bytes: what both read must be equal."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from rankandfile.evidence.files import native_pass, worker
from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.files.kinds import flight_pickle
from rankandfile.evidence.flight.known_moulds import KnownMoulds
from rankandfile.evidence.flight.native import native
from rankandfile.evidence.flight.native_dumps import decoded

NAME = "nccl_trace_rank_0"
Verdict = Literal["equal", "left", "different"]

_FILE = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)) / NAME


def why_not() -> str:
    """Why there is nothing to compare with; empty where there is."""
    found = native()
    return "" if found.read is not None else found.said or "rankandfile-native is not built (make native)"


@contextlib.contextmanager
def nothing_learnt() -> Iterator[None]:
    """A decoding process knows moulds of the files that it read before: none of these are to matter here."""
    known, flight_pickle.ALIKE = flight_pickle.ALIKE, KnownMoulds()
    try:
        yield
    finally:
        flight_pickle.ALIKE = known


def by_native(path: Path) -> Decoded | None:
    read = native().read
    assert read is not None
    (answer,) = read([os.fsencode(path)], native_pass.MOST)
    return None if answer is None else decoded(answer)


def by_python(path: Path) -> Decoded:
    with nothing_learnt():
        return worker.decode(path, NAME)


def told(decoded: Decoded) -> bytes:
    """All that a file holds, but for what reading it cost."""
    decoded.seconds, decoded.bytes = 0.0, 0
    return msgspec.msgpack.encode(decoded)


def compare(data: bytes) -> Verdict:
    """`left`: the native reader leaves the file to Python's, so that they cannot differ."""
    _FILE.write_bytes(data)
    return compare_file(_FILE)


def compare_file(path: Path) -> Verdict:
    found = by_native(path)
    if found is None:
        return "left"
    return "equal" if told(found) == told(by_python(path)) else "different"
