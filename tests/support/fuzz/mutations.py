"""Dumps with something changed: their bytes, their opcodes, or the values in them, written as each pickler would."""

from __future__ import annotations

import pickle
import pickletools
import random
import struct
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from itertools import pairwise
from typing import Any

from rankandfile.lab.flight_writer import write_pickle
from rankandfile.lab.flight_writer_types import VERSIONS
from support.evidence.sample_dumps import one_rank, plain

#: What may stand anywhere in a dump that somebody made: what looks right, and what hardly does.
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 255, 256, 65536, 1 << 31, 1 << 40, 1 << 62, -(1 << 62), (1 << 62) - 1, (1 << 63) - 1,
    -(1 << 63), 1 << 63, 1 << 70, 0.0, 1.5, -2.0, float("nan"), "", "x", "nccl:all_reduce", "nccl:send 0->1",
    "nccl:recv 1<-0", "scheduled", "started", "completed", "frames", "2.10", "[0, 1]", "#0", " spaced ", "tab\there",
    "zeile\n", "größe", "Ω𝒳", "no\u00a0break", "soft\u00adhyphen", "\ud800", "x" * 4096, "x" * 4097, "é" * 3000,
    b"bytes", (), [], {}, ("0", "default_pg"), ["0", "default_pg"], ("0",), (1, 2), [[1, 2]], [[True]], [[1.0]], [[]],
    ["Float"], [{"name": "g", "filename": "b", "line": 7}], [{"name": "f"}],
    [{"name": "f", "filename": "/rankandfile/runtime/recorder/x.py", "line": 3}],
    {"name": "f", "filename": "a", "line": None}, {"name": "f", "filename": "a", "line": 1, "more": 2},
    {"1": {"last_enqueued_collective": 3, "last_started_collective": -1, "last_completed_collective": "7"}},
    {0: [0, 1, 2]}, {"0": {"name": "0", "desc": "d", "ranks": "[0, 1]"}},
)  # fmt: skip
#: What may stand where a number is.
NUMBERS = (
    None, True, False, 0, 1, 7, -1, 255, 256, 65535, 65536, (1 << 31) - 1, 1 << 31, -(1 << 31), 1 << 40, -(1 << 40),
    1 << 55, (1 << 62) - 1, 1 << 62, -(1 << 62), (1 << 63) - 1, -(1 << 63), 1 << 63, 0.0, 2.5, -1.0, "7",
)  # fmt: skip
#: Opcodes and short pieces that plain data is written with, and some that it never is.
PIECES = (
    b"", b"N", b"\x88", b"\x89", b"K\x07", b"M\x00\x01", b"J\xff\xff\xff\xff",
    b"\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80", b"\x8a\x00", b"\x8a\x01\xff", b"\x8a\x09" + b"\x01" * 9,
    b"G?\xf0\0\0\0\0\0\0", b"}", b"]", b")", b"(", b"u", b"s", b"e", b"a", b"t", b"\x85", b"\x86", b"\x87",
    b"\x94", b".", b"0", b"2", b"h\x00", b"h\x01", b"h\x05", b"q\x03", b"q\xf0", b"r\xff\xff\x00\x00",
    b"j\x01\x00\x00\x00", b"X\x01\x00\x00\x00a", b"\x8c\x01a", b"U\x01a", b"\x80\x02", b"\x80\x06",
    b"\x95\x04\x00\x00\x00\x00\x00\x00\x00", b"cos\nsystem\n", b"R", b"b", b"Q", b"](e", b"}(u", b"](K\x01e",
)  # fmt: skip


@cache
def seeds() -> list[bytes]:
    """Dumps of each version and pickler; some with so many calls that most are read by what earlier ones were like."""
    found = [
        write_pickle(one_rank(0, calls=calls), version) for version in VERSIONS for calls in (1, 3, 12, 40)
    ]
    for version in VERSIONS:
        value = plain(one_rank(0, calls=4), version)
        found += [pickle.dumps(value, protocol) for protocol in range(6)]
        timed = plain(one_rank(1, calls=6), version)
        for number, entry in enumerate(timed["entries"][:-1]):
            entry["duration_ms"] = 0.25 * number
        found += [pickle.dumps(timed, 2), as_torch(timed)]
    return found


def as_torch(value: Any) -> bytes:
    """A pickle of any plain value in the way of torch's pickler: each text once, and a mark for each list and dict."""
    memo: dict[str, int] = {}

    def write(one: Any) -> bytes:
        if isinstance(one, str):
            if one in memo:
                return b"h%c" % memo[one] if memo[one] < 256 else b"j" + struct.pack("<I", memo[one])
            place = memo[one] = len(memo)
            raw = one.encode("utf-8", "surrogatepass")
            put = b"q%c" % place if place < 256 else b"r" + struct.pack("<I", place)
            return b"X" + struct.pack("<I", len(raw)) + raw + put
        if isinstance(one, dict):
            return b"}(" + b"".join(write(key) + write(inner) for key, inner in one.items()) + b"u"
        if isinstance(one, list):
            return b"](" + b"".join(map(write, one)) + b"e"
        if isinstance(one, tuple) and len(one) == 2:
            return write(one[0]) + write(one[1]) + b"\x86"
        return pickle.dumps(one, 2)[2:-1]

    return b"\x80\x02" + write(value) + b"."


def mutations(seed: int) -> Iterator[bytes]:
    """Without end, and the same for the same seed."""
    rng = random.Random(seed)
    loaded = [value for data in seeds() if isinstance(value := pickle.loads(data), dict)]
    ways = (_bits, _bytes, _opcodes, _entries, _values, _values, _values, _numbers)
    while True:
        way = rng.choice(ways)
        if way in (_values, _numbers):
            yield way(rng, pickle.loads(pickle.dumps(rng.choice(loaded))))
        else:
            yield way(rng, rng.choice(seeds()))


def _bits(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _bytes(rng: random.Random, data: bytes) -> bytes:
    begin = rng.randrange(len(data))
    end = min(len(data), begin + rng.choice((0, 1, 2, 5, 9, 40, 400)))
    new = rng.choice((b"", rng.randbytes(rng.randint(1, 9)), data[begin:end] * 2, data[begin : begin + 60]))
    return data[:begin] + new + data[end:]


def _opcodes(rng: random.Random, data: bytes) -> bytes:
    """Whole opcodes changed, left out, put in or exchanged."""
    places = [place for _, _, place in pickletools.genops(data) if place is not None] + [len(data)]
    parts = [data[begin:end] for begin, end in pairwise(places)]
    for _ in range(rng.randint(1, 2)):
        at = rng.randrange(len(parts))
        match rng.randrange(4):
            case 0:
                parts[at] = rng.choice(PIECES)
            case 1:
                parts.insert(at, rng.choice(PIECES))
            case 2:
                parts[at] = rng.choice(parts)
            case _:
                other = rng.randrange(len(parts))
                parts[at], parts[other] = parts[other], parts[at]
    return b"".join(parts)


def _entries(rng: random.Random, data: bytes) -> bytes:
    """One piece of many opcodes once more, elsewhere or gone: what repeats stands beside what it is like."""
    places = [place for opcode, _, place in pickletools.genops(data) if opcode.name == "EMPTY_DICT" and place]
    if len(places) < 3:
        return data[: rng.randrange(len(data))]
    begin, end = sorted(rng.sample(places, 2))
    to = rng.choice(places)
    return rng.choice(
        (
            data[:begin] + data[end:],
            data[:to] + data[begin:end] + data[to:],
            data[:end] + data[begin:end] + data[end:],
        )
    )


def _numbers(rng: random.Random, value: Any) -> bytes:
    """Counters and times of calls that are like earlier ones in all else."""
    value["entries"] = [dict(entry) for _ in range(rng.randint(2, 9)) for entry in value["entries"]]
    for number, entry in enumerate(value["entries"]):
        entry["record_id"] = number
    for _ in range(rng.randint(1, 2)):
        entry = rng.choice(value["entries"])
        key = rng.choice([key for key in entry if key.endswith(("_id", "_ns", "_ms"))])
        entry[key] = rng.choice(NUMBERS)
    return as_torch(value) if rng.random() < 0.7 else pickle.dumps(value, rng.randint(2, 5))


def _values(rng: random.Random, value: Any) -> bytes:
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        holder, key = _place(rng, value)
        if holder is None:
            continue
        if isinstance(holder, dict) and rng.random() < 0.15:
            del holder[key]
        elif isinstance(holder, dict) and rng.random() < 0.1:
            holder[rng.choice(("new", "seq_id", "duration_ms", "is_p2p", "frames", 5))] = deepcopy(
                rng.choice(VALUES)
            )
        else:
            holder[key] = deepcopy(rng.choice(VALUES))
    try:
        return as_torch(value) if rng.random() < 0.5 else pickle.dumps(value, rng.randint(2, 5))
    except UnicodeEncodeError:
        return as_torch(value)


def _place(rng: random.Random, value: Any) -> tuple[Any, Any]:
    """Somewhere in it, where something else could stand."""
    places: list[tuple[Any, Any]] = []
    todo: list[Any] = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, dict):
            places += [(one, key) for key in one]
            todo += one.values()
        elif isinstance(one, list):
            places += [(one, number) for number in range(len(one))]
            todo += one
    return rng.choice(places) if places else (None, None)
