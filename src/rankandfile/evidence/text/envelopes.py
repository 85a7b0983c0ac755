"""The JSON that log collectors wrap around each line: what the line was, when, and whose output.

Docker, stern, Loki, CloudWatch, Google Cloud, fluent-bit and journald each name the same few things in their own way.
They are cut away before anything is read, so that the lines of one container stand below each other as they were
written. An answer that is one document (Loki's query_range, CloudWatch's events, a list of Google's entries) becomes a
line each.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

_TEXT = ("log", "_raw", "message", "msg", "line", "textPayload", "MESSAGE", "@message", "body", "event")
_TIME = ("time", "timestamp", "@timestamp", "ts", "receiveTimestamp", "_time")
_POD = ("podName", "pod_name", "pod", "container_name", "logStreamName", "logStream", "instance", "_HOSTNAME")
_HOST = ("host", "hostname", "node_name", "nodeName", "_HOSTNAME", "node")
_RANK = ("rank", "RANK", "global_rank")
_INSIDE = ("kubernetes", "labels", "stream", "resource", "jsonPayload", "metadata")

#: A program that logs JSON itself tells its level, and what its line is about beside the words. A collector's line has
#: names of its own beside the words, which are of the container.
_LEVEL = ("level", "levelname", "severity", "lvl", "loglevel", "log_level")
_OF_COLLECTORS = frozenset(
    ("stream", "kubernetes", "podName", "pod_name", "containerName", "logStreamName", "logName", "ingestionTime",
     "insertId", "_HOSTNAME", "ddsource", "docker", "labels", "resource", "detected_level")
)  # fmt: skip
_FILE = ("src", "caller", "file", "filename", "pathname", "source", "location")
_LINE_OF_FILE = ("lineno", "line_no", "linenumber", "line")
_UNTOLD = frozenset(
    (*_TIME, *_POD, *_HOST, *_RANK, *_LEVEL, *_FILE, *_LINE_OF_FILE, *_TEXT, "pid", "logger", "name", "thread",
     "threadName", "process", "taskName", "module", "funcName", "func", "func_name", "function",
     "world_size", "asctime")
)  # fmt: skip
_SHORT = 80

#: A document larger than this is read as text: its lines are found all the same, only not put together.
MOST = 64 << 20

#: What terminals take for colours, and for movements of the cursor.
COLOURS = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\))")

#: What a search engine puts a collector's entry into: Elasticsearch and OpenSearch, Splunk, Datadog.
_WITHIN = ("_source", "result", "attributes", "content")

_RANK_TEXT = re.compile(r"\d{1,7}$")


class Envelope(NamedTuple):
    text: str
    time: str | None
    carrier: str
    rank: int | None
    host: str | None = None
    """On which machine it was written."""


def opened(line: str) -> Envelope | None:
    """What a line of JSON is wrapped around; None if it is no envelope."""
    try:
        document = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return None
    return _opened(document) if isinstance(document, dict) else None


def _unwrapped(document: dict[str, Any]) -> dict[str, Any]:
    inside = (one for name in _WITHIN if isinstance(one := document.get(name), dict))
    return document if _first([document], _TEXT) is not None else next(inside, document)


def _opened(document: dict[str, Any]) -> Envelope | None:
    document = _unwrapped(document)
    inner = [document, *(one for name in _INSIDE if isinstance(one := document.get(name), dict))]
    inner += [one for part in inner[1:] for name in _INSIDE if isinstance(one := part.get(name), dict)]
    text = _first(inner, _TEXT)
    if text is None:
        return None
    rank = _first(inner, _RANK)
    if "\n" not in text:
        text = _with_values(next(part for part in inner if _first([part], _TEXT) is not None), document, text)
    told = [value for name in _POD if (value := _first(inner, (name,))) is not None]
    # What a carriage return has wiped away is no line of anybody's.
    text = COLOURS.sub("", text).rstrip("\r\n").rpartition("\r")[2]
    return Envelope(
        text,
        _first(inner, _TIME),
        " ".join(told[:2]),
        int(rank) if rank and _RANK_TEXT.match(rank) else None,
        _first(inner, _HOST),
    )


def _with_values(part: dict[str, Any], document: dict[str, Any], text: str) -> str:
    """The words of a program that logs JSON itself, with where it says so and what it says beside them:
    `trainer.py:222 leaving the loop step=6451`."""
    own = part is document.get("jsonPayload") or (
        _OF_COLLECTORS.isdisjoint(document) and any(isinstance(part.get(name), str) for name in _LEVEL)
    )
    if not own or text.startswith("{"):
        return text
    place = _first([part], _FILE)
    if place is not None and ":" not in place and (line := _first([part], _LINE_OF_FILE)) is not None:
        place = f"{place}:{line}"
    values = (
        f"{name}={value}"
        for name, value in part.items()
        if name not in _UNTOLD and isinstance(value, str | int | float) and len(str(value)) <= _SHORT
    )
    return " ".join([*((place,) if place and ":" in place else ()), text, *values])


def _first(parts: list[dict[str, Any]], names: tuple[str, ...]) -> str | None:
    for part in parts:
        for name in names:
            value = part.get(name)
            if isinstance(value, str):
                return value
            if isinstance(value, int) and not isinstance(value, bool):
                return str(value)
    return None


def is_document(head: bytes) -> bool:
    """One document with many lines in it, by its beginning."""
    start = head.lstrip()[:1]
    if start not in (b"{", b"["):
        return False
    return (
        (b'"resultType"' in head and b'"streams"' in head)
        or (b'"events"' in head and b'"message"' in head)
        or (b'"hits"' in head and b'"_source"' in head)
        or (b'"items"' in head and b'"involvedObject"' in head)
        or (start == b"[" and (b'"textPayload"' in head or b'"jsonPayload"' in head or b'"@message"' in head))
    )


def lines_of(data: bytes) -> bytes | None:
    """The document as lines of JSON, one an entry, in the order of their times where they have any."""
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return None
    if (streams := _streams(document)) is not None:
        found = list(heapq.merge(*map(_in_order, streams), key=lambda one: _moment(one[0])))
    else:
        found = list(_entries(document))
        if all(one[0] for one in found):
            found.sort(key=lambda one: _moment(one[0]))
    if not found:
        return None
    return b"\n".join(msgspec.json.encode(one) for _, entry in found for one in _each_line(entry)) + b"\n"


def _each_line(entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A message of several lines, a traceback mostly, as the lines that were written."""
    name = next((name for name in _TEXT if isinstance(entry.get(name), str)), None)
    lines = entry[name].splitlines() if name is not None else []
    if name is None or len(lines) < 2:
        yield entry
        return
    for line in lines:
        yield {**entry, name: line}


_Entry = tuple[str, dict[str, Any]]


def _moment(time: str) -> tuple[int, str]:
    return (len(time), time) if time.isdigit() else (0, time)


def _in_order(entries: list[_Entry]) -> list[_Entry]:
    """One stream's lines as they were written: forwards or backwards as it was asked for, however its clock jitters."""
    backwards = bool(entries) and _moment(entries[0][0]) > _moment(entries[-1][0])
    out: list[_Entry] = []
    for time, entry in reversed(entries) if backwards else entries:
        out.append((max(time, out[-1][0], key=_moment) if out else time, entry))
    return out


def _streams(document: Any) -> list[list[_Entry]] | None:
    """Loki's answer: the lines of each stream apart."""
    if not isinstance(document, dict) or not isinstance(data := document.get("data"), dict):
        return None
    found: list[list[_Entry]] = []
    for result in _dicts(data.get("result")):
        labels = result.get("stream") or {}
        found.append([])
        for value in result.get("values") or ():
            match value:
                case [str(time), str(text), *_]:
                    found[-1].append((time, {"log": text, "labels": labels, "time": time}))
    return found


def _entries(document: Any) -> Iterator[_Entry]:
    if isinstance(document, dict) and isinstance(items := document.get("items"), list):
        for one in _dicts(items):
            about, when = one.get("involvedObject") or {}, one.get("lastTimestamp") or one.get("eventTime")
            whom = f"{about.get('kind', '')}/{about.get('name', '')}"
            said = f"{one.get('type')} {one.get('reason')} {whom} {one.get('message')}"
            yield str(when or ""), {"time": when, "message": said}
        return
    entries = document
    if isinstance(document, dict):
        hits = document.get("hits")
        entries = hits.get("hits") if isinstance(hits, dict) else hits or document.get("events")
    for one in map(_unwrapped, _dicts(entries)):
        yield str(_first([one], _TIME) or ""), one


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
