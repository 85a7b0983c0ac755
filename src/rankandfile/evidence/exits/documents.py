"""Exit lists, as the lab and `raf run` write them, and error files of torchelastic: read in a decoding process."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from rankandfile.evidence.exits.ends import End
from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.raw import RawNote
from rankandfile.evidence.text.logs.event import clean
from rankandfile.evidence.text.logs.exceptions import weigh
from rankandfile.evidence.text.logs.signals import by_number, by_words

#: Largest exit list or error file that is read.
MOST = 16 << 20

_STATES = ("exited", "signalled", "running", "stopped", "ended", "lost")
#: Times beyond are no times: the year 2100, in seconds.
_LATEST = 4_102_444_800


def decode(path: Path, source: str) -> Decoded:
    """The ends in an exit list or an error file, and notes on what is none. Raises OSError only."""
    with path.open("rb") as file:
        ends, notes = from_document(file.read(MOST + 1), source)
    return Decoded(ends=ends, notes=notes)


def from_document(data: bytes, source: str) -> tuple[list[End], list[RawNote]]:
    """The ends in an ``exits.json`` or in a torchelastic error file; none, and a note, for anything else."""
    if len(data) > MOST:
        return [], [RawNote("", "larger than an exit list can be; not read")]
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        return [], [RawNote("", f"not JSON: {clean(str(error), 120)}")]
    if isinstance(document, list):
        ends = [_listed(item, source) for item in document if isinstance(item, dict)]
        left_out = len(document) - len(ends)
        return ends, [RawNote("", f"{left_out} entries are no processes; left out")] if left_out else []
    if isinstance(document, dict) and "message" in document:
        return [_error_file(document, source)], []
    return [], [RawNote("", "neither a list of exits nor an error file")]


def _listed(item: dict[str, Any], source: str) -> End:
    state = item.get("state")
    end = End(
        source=source, kind="list", rank=_integer(item.get("rank")), local_rank=_integer(item.get("local_rank")),
        host=clean(item["host"], 200) if isinstance(item.get("host"), str) else None,
        pid=_integer(item.get("pid")), state=state if state in _STATES else None, time_ns=_since(item.get("since")),
        error=clean(item["reason"], 300) if isinstance(item.get("reason"), str) else None,
    )  # fmt: skip
    code = _integer(item.get("exitcode", item.get("exit_code")))
    if state == "exited" and "signal" in item and item["signal"] is None and code is not None and code > 0:
        # A list that tells the two apart says that it was no signal: 137 is the program's own number then.
        end.exit_code, end.role = code, "fact"
        return end
    return end.by(code, _signal(item.get("signal")))


def _since(value: object) -> int | None:
    """When it was first seen in that state, in seconds since 1970."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 < value < _LATEST:
        return None
    return int(value * 1000) * 1_000_000


def _signal(value: object) -> str | None:
    if isinstance(value, str):
        return by_words(clean(value, 40))
    number = _integer(value)
    return by_number(number) if number else None


_PREFIXED = re.compile(r"^(\w[\w.]*(?:Error|Exception|Interrupt|Exit)\w*)\s*:?\s*(.*)", re.DOTALL)


def _error_file(document: dict[str, Any], source: str) -> End:
    """``error.json``: the exception of one worker; whose it is stands in the path (``.../attempt_0/3/error.json``)."""
    message = document["message"]
    inner = message if isinstance(message, dict) else {}
    extra = inner.get("extraInfo")
    extra = extra if isinstance(extra, dict) else {}
    text = str(inner.get("message", message if isinstance(message, str) else ""))
    match = _PREFIXED.match(text[:4000])
    traceback = str(extra.get("py_callstack", ""))[-4000:]
    place = re.search(r"/(\d{1,6})/error\.json$", f"/{source}")
    return End(
        source=source, kind="error_file", state="exited", role=weigh(match[1], match[2]) if match else "origin",
        error=clean(text, 300) or clean(traceback.strip().rpartition("\n")[2], 300),
        local_rank=int(place[1]) if place else None,
        exit_code=_integer(inner.get("errorCode")), time_ns=_whole_seconds(extra.get("timestamp")),
    )  # fmt: skip


def _whole_seconds(value: object) -> int | None:
    digits = str(value) if isinstance(value, (int, str)) else ""
    return int(digits) * 1_000_000_000 or None if digits.isdecimal() and len(digits) < 12 else None


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 31 else None
