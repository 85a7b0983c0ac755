"""What a fuzzer does to each decoder, and what must hold whatever the bytes: shared by Hypothesis and atheris."""

from __future__ import annotations

import contextlib
import gc
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rankandfile.evidence.condensed import reading
from rankandfile.evidence.condensed.form import FORM, SIGN
from rankandfile.evidence.files import worker
from rankandfile.evidence.files.decoded import Decoded, unpack_decoded
from rankandfile.evidence.flight import as_json, as_pickle, header
from rankandfile.evidence.flight.salvage import salvage
from rankandfile.evidence.raw import RawDump, RawNote, pack
from rankandfile.evidence.tables.assemble import assemble
from rankandfile.evidence.tables.part import Part
from rankandfile.evidence.text.stacks.ownership import StackPart
from rankandfile.evidence.text.stacks.raw import RawStacks
from rankandfile.model.tables import TABLES, schema

#: Stated bound: bytes of address space that decoding a small file may take beyond what the process has.
MEMORY = 1 << 30

_FILE = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)) / "nccl_trace_rank_0"


def as_file(data: bytes) -> Path:
    _FILE.write_bytes(data)
    return _FILE


def check_dumps(dumps: list[RawDump], notes: list[RawNote], stacks: RawStacks | None = None) -> None:
    """What a decoder hands on is whole, travels between processes, and makes tables."""
    for dump in dumps:
        assert len(dump.kinds) == 4 * dump.calls
        assert all(len(column) == 8 * dump.calls for column in dump.integers)
        assert len(dump.durations_ms) in (0, 8 * dump.calls)
        dump.rank = 0 if dump.rank is None else dump.rank
    (sent,) = unpack_decoded(pack([Decoded("fuzzed", dumps, notes, stacks)]))
    parts = [Part(dump, f"file {n}", rank=dump.rank) for n, dump in enumerate(sent.dumps)]
    stood = [StackPart(sent.stacks, "file", 0)] if sent.stacks is not None else []
    case = assemble(parts, stack_parts=stood)
    assert case.calls.height == sum(dump.calls for dump in dumps)
    for name in TABLES:
        assert case.tables()[name].schema == schema(name)


def decode_object(value: Any, format: str, truncated: bool = False) -> None:
    dump, notes = header.decode(value, format, truncated)
    for note in notes:
        assert len(note.what) < 2000
    # As the worker does: a note may quote a stranger's text.
    notes = [RawNote(worker.shown(note.where), worker.shown(note.what)) for note in notes]
    check_dumps([dump] if dump is not None else [], notes)


def fuzz_file(data: bytes) -> None:
    decoded = worker.decode(as_file(data), "nccl_trace_rank_0")
    check_dumps(decoded.dumps, decoded.notes)


def fuzz_pickle(data: bytes) -> None:
    value, truncated, _notes = as_pickle.load(as_file(data))
    if value is not None:
        decode_object(value, "pickle", truncated)


def fuzz_json(data: bytes) -> None:
    value, truncated, _notes = as_json.load(as_file(data))
    for _rank, dump in as_json.dumps_in(value):
        decode_object(dump, "json", truncated)


def fuzz_condensed(data: bytes) -> None:
    for given in (data, SIGN + FORM + data):
        found = reading.read(given)
        notes = [RawNote(worker.shown(note.where), worker.shown(note.what)) for note in found.notes]
        check_dumps(found.dumps, notes, found.stacks)


def fuzz_salvage(data: bytes) -> None:
    found = salvage(data)
    assert 0 <= found.stopped_at <= len(data)
    assert found.kept >= 0
    if found.completed is not None:
        assert len(found.completed) <= len(data) + 3
        assert found.completed.endswith(b"u.")


TARGETS: dict[str, Callable[[bytes], None]] = {
    "file": fuzz_file,
    "pickle": fuzz_pickle,
    "json": fuzz_json,
    "condensed": fuzz_condensed,
    "salvage": fuzz_salvage,
}


@contextlib.contextmanager
def bounded_memory(extra: int = MEMORY) -> Iterator[None]:
    """Fail with MemoryError, as in a decoding process, instead of taking the machine along."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (ImportError, OSError):
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + extra, hard))
    # What other tests have left need not be looked through each time.
    gc.freeze()
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        gc.collect()
        gc.unfreeze()
