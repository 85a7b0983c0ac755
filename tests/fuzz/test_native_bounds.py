"""What a few bytes can ask of the native reader, by reference or in pieces: it has done with them at once."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.evidence.sample_dumps import one_rank, plain
from support.fuzz.both_readers import why_not
from support.fuzz.decoder_targets import bounded_memory
from support.fuzz.mutations import as_torch

from rankandfile.evidence.files import native_pass
from rankandfile.evidence.flight.native import native

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(why_not()), reason=why_not() or "tried")]

#: Of the processor, for a megabyte, and whatever a file is; a sound one takes a thousandth.
SECONDS_PER_MEGABYTE, SECONDS = 0.2, 0.5

_HEAD = b"\x80\x02}("
_ENTRIES = _HEAD + b"X\7\0\0\0entries]("


def calls(count: int, write: Callable[[Any], bytes] = pickle.dumps, **fields: Callable[[int], Any]) -> bytes:
    """A dump of so many calls, with these of their values."""
    dump = plain(one_rank(0, calls=1))
    (entry,) = dump["entries"]
    entries = [
        {**entry, "record_id": n, **{key: value(n) for key, value in fields.items()}} for n in range(count)
    ]
    return write({**dump, "entries": entries})


def laughing(levels: int) -> list[Any]:
    value: list[Any] = [1]
    for _ in range(levels):
        value = [value, value]
    return value


def header(**values: Any) -> bytes:
    return pickle.dumps(plain(one_rank(0, calls=1)) | values)


_SIZES, _TYPES = [[1] for _ in range(1 << 16)], ["x" * 4096] * 60_000
_FRAMES = [{"name": f"f{n}", "filename": "a", "line": n} for n in range(512)]
HOSTILE: dict[str, Callable[[], bytes]] = {
    "one list of many sizes in each call": lambda: calls(
        5000, input_sizes=lambda _: _SIZES, timeout_ms=lambda n: n
    ),
    "one list of long words in each call": lambda: calls(2000, input_dtypes=lambda _: _TYPES),
    "one stack of many frames in each call": lambda: calls(20_000, frames=lambda _: _FRAMES),
    "a long word in each call": lambda: calls(20_000, thread_name=lambda _: "x" * 4096),
    "no two calls alike": lambda: calls(20_000, as_torch, profiling_name=lambda n: f"nccl:{'y' * 300}{n}"),
    "calls that differ at their ends": lambda: calls(
        5000, as_torch, output_dtypes=lambda n: ["Float"] * 200 + [f"D{n % 7}"]
    ),
    "marks": lambda: _HEAD + b"(" * 5_000_000,
    "lists in each other": lambda: _ENTRIES + b"]" * 5_000_000,
    "values that nobody takes": lambda: _ENTRIES + b"}(" + b"N" * 20_000_000,
    "items one by one": lambda: _HEAD + b"K\1]" + b"Na" * 5_000_000,
    "items of lists in turn": lambda: _HEAD + b"K\1]q\0" + b"](Ne(h\0t" * 500_000,
    "places in the memo": lambda: _HEAD + b"K\1" + b"N\x94" * 5_000_000,
    "a place far away": lambda: _HEAD + b"]r\xff\xff\xff\x7f.",
    "words": lambda: _HEAD + b"".join(b"\x8c\x04%04d" % (n % 10_000) for n in range(1_000_000)),
    "a header that is read again and again": lambda: header(pg_config=laughing(30)),
    "a header of long words": lambda: header(pg_status={"0": {"a": [[["x" * 1000] * 100] * 100] * 100}}),
}


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_time_and_memory_are_bounded(name: str, tmp_path: Path) -> None:
    path = tmp_path / "nccl_trace_rank_0"
    path.write_bytes(HOSTILE[name]())
    read = native().read
    assert read is not None
    with bounded_memory():
        began = time.process_time()
        read([os.fsencode(path)], native_pass.MOST)
        took = time.process_time() - began
    assert took < SECONDS + SECONDS_PER_MEGABYTE * path.stat().st_size / 1e6
