"""Nasty files, made by code: what once went wrong, or is known to go wrong elsewhere."""

from __future__ import annotations

import pickle
import struct
from pathlib import Path
from typing import Any

from rankandfile.evidence.condensed.form import FORM, SIGN, Stood, written
from rankandfile.evidence.condensed.making import document
from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.flight import header
from rankandfile.evidence.raw import Frame
from rankandfile.lab.flight_writer import write_pickle
from rankandfile.lab.flight_writer_json import write_json
from rankandfile.lab.flight_writer_types import VERSIONS
from support.evidence.sample_dumps import one_rank, plain

CRASHERS = Path(__file__).with_name("crashers")


def _text(value: str) -> bytes:
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def _laughing(levels: int = 40) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value, value]
    return value


def _loop() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


def _entry(**changes: Any) -> bytes:
    value = plain(one_rank(0, calls=3))
    value["entries"][1] |= changes
    return pickle.dumps(value, 2)


def _top(**changes: Any) -> bytes:
    return pickle.dumps(plain(one_rank(0, calls=3)) | changes, 2)


def condensed() -> bytes:
    """A dump, and what a ring has beside one."""
    found, _ = header.decode(plain(one_rank(0, calls=3)), "pickle")
    assert found is not None
    sound = document(Decoded(dumps=[found]))
    sound.stood = [Stood([Frame("step", "/job/train.py", 31)], 7, rank=0, raised="ValueError: no")]
    sound.sources = [("/job/train.py", "ab" * 32)]
    return written(sound)


def nasty_files() -> dict[str, bytes]:
    """Name -> bytes. Names are for the reader of a failing test."""
    whole, as_json = write_pickle(one_rank(0, calls=3)), write_json(one_rank(0, calls=3))
    small = condensed()
    found = {
        "empty": b"",
        "condensed": small,
        "half condensed": small[: len(small) // 2],
        "condensed twice": small + small,
        "condensed, of lists of gigabytes": SIGN + FORM + b"\x81\xa5dumps\xdd\xff\xff\xff\xff",
        "condensed, deep": SIGN + FORM + b"\x81\xa5dumps" + b"\x91" * 50_000,
        "zeros": bytes(4096),
        "ff": b"\xff" * 4096,
        "87 bytes": whole[:87],
        "half": whole[: len(whole) // 2],
        "without its last byte": whole[:-1],
        "twice": whole + whole,
        "half json": as_json[: len(as_json) // 2],
        "json twice": as_json * 2,
        "json in utf-16": as_json.decode().encode("utf-16"),
        "json with a mark": b"\xef\xbb\xbf" + as_json,
        "json with bad utf-8": as_json.replace(b"default", b"def\xffult"),
        "json with lone surrogates": as_json.replace(b"default", b"\\ud800"),
        "json with NaN": as_json.replace(b'"duration_ms":0.5', b'"duration_ms":NaN'),
        "json with a huge number": as_json.replace(b'"op_id":1', b'"op_id":' + b"9" * 5000),
        "json with an endless exponent": as_json.replace(b'"op_id":1', b'"op_id":1e999999'),
        "json with keys twice": b"{" + as_json[1:-1] + b"," + as_json[1:],
        "deep json": b'{"entries":' + b"[" * 100_000,
        "deep pickle": b"\x80\x02}(" + _text("entries") + b"]" * 50_000 + b"a" * 49_999 + b"u.",
        "deep marks": b"\x80\x02" + b"(" * 50_000,
        "memo of gigabytes": b"\x80\x02}(" + _text("a") + b"r\xff\xff\xff\x7fu.",
        "text of gigabytes": b"\x80\x02}(X\xff\xff\xff\xff",
        "number of gigabytes": b"\x80\x02}(" + _text("a") + b"\x8b\xff\xff\xff\x7f",
        "frame of exabytes": b"\x80\x04\x95" + b"\xff" * 8 + b"}(",
        "memo that is not there": b"\x80\x02}(h\x09h\x09u.",
        "only a mark": b"\x80\x02(.",
        "pop of nothing": b"\x80\x020.",
        "unknown protocol": b"\x80\xff}.",
        "unhashable key": b"\x80\x02}(]K\x01u.",
        "an odd number of items": b"\x80\x02}(K\x01u.",
        "system": b"\x80\x02cos\nsystem\n" + _text("true") + b"\x85R.",
        "persistent": b"\x80\x02K\x01Q.",
        "entries within entries": _top(entries=_loop()),
        "entries of laughter": _top(entries=_laughing()),
        "groups of laughter": _top(pg_config=_laughing()),
        "status of laughter": _top(pg_status=_laughing()),
        "frames of laughter": _entry(frames=_laughing()),
        "sizes of laughter": _entry(input_sizes=_laughing()),
        "group of laughter": _entry(process_group=_laughing()),
        "hidden in frames": _entry(frames=[{"name": "f", "filename": "g", "line": 1, "x": _laughing()}]),
        "huge key": _top(**{"x" * 100_000: 1}),
        "surrogate key": _top(**{"\ud800": 1}),
        "surrogate group": _entry(process_group=("\ud800", "\udfff")),
        "escape sequences": _entry(profiling_name="nccl:\x1b[2J\x07", state="\x1b[31m"),
        "huge duration": _entry(duration_ms=1 << 5000),
        "infinite duration": _entry(duration_ms=float("inf")),
        "negative everything": _entry(
            record_id=-1, collective_seq_id=-5, time_created_ns=-1, timeout_ms=-1, input_sizes=[[-4]]
        ),
        "the smallest number": _entry(time_created_ns=-(1 << 63), record_id=-(1 << 63)),
        "numbers for keys": pickle.dumps({1 << 20_000: 1, None: 2, (): 3, "entries": []}, 2),
        "numbers for groups": _top(pg_config={1 << 20_000: [0], None: [1], float("inf"): [2]}),
        "bytes for text": pickle.dumps({b"entries": [], "version": b"2.10"}, 4),
        "a set": pickle.dumps({"entries": {1, 2}}, 4),
        "true for one": _entry(record_id=True, collective_seq_id=True, retired=1),
    }
    for version in VERSIONS:
        data = write_pickle(one_rank(0, calls=3), version)
        found[f"version {version}"] = data
        found[f"version {version}, cut"] = data[: len(data) * 2 // 3]
    for path in sorted(CRASHERS.iterdir()) if CRASHERS.is_dir() else ():
        found[f"crasher {path.name}"] = path.read_bytes()
    return found
