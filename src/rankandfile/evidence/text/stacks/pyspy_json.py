"""Stacks as ``py-spy dump --json`` writes them: a list of threads, each with its frames, innermost first.

Several snapshots written one after the other into one file are several lists.
"""

from __future__ import annotations

import json
import re
from typing import Any, BinaryIO

import msgspec

from rankandfile.evidence.text.stacks import bounds
from rankandfile.evidence.text.stacks.call_arguments import asked
from rankandfile.evidence.text.stacks.collector import Collector, Draft, frame
from rankandfile.evidence.text.stacks.formats.pyspy_text import is_native
from rankandfile.evidence.text.stacks.stream import Stream
from rankandfile.evidence.text.stacks.titles import place_in, rank_in
from rankandfile.evidence.text.stacks.variables import own_rank

_THREAD = re.compile(rb'^\s*\{?\s*"pid":', re.MULTILINE)
_MOST_LISTS = 10_000


def read_file(file: BinaryIO, collector: Collector) -> None:
    data = file.read(bounds.JSON_FILE + 1)
    if len(data) > bounds.JSON_FILE:
        collector.note("", f"larger than {bounds.JSON_FILE:,} bytes: the rest is not read")
        data = data[: bounds.JSON_FILE]
    read(data, collector)


def read(data: bytes, collector: Collector) -> None:
    """Every thread in this document. Threads that are not as py-spy writes them are left out, with a note."""
    lists, whole = _lists(data)
    if not whole:
        collector.note("", "the JSON ends early or is damaged: what stands before the damage was kept")
    threads = [(index, thread) for index, threads in enumerate(lists) for thread in threads]
    lines = (
        [data.count(b"\n", 0, match.end()) + 1 for match in _THREAD.finditer(data)]
        if len(threads) < 5000
        else []
    )
    if len(lines) != len(threads) or len(set(lines)) != len(lines):
        lines = list(range(1, len(threads) + 1))
    stream = Stream(collector)
    snapshot: tuple[int, int | None] | None = None
    for line, (index, thread) in zip(lines, threads, strict=True):
        if type(thread) is not dict or type(thread.get("frames")) is not list:
            collector.note("", "something in the list is not a thread as py-spy writes it: left out")
            continue
        pid = bounds.small(thread.get("pid"))
        if (index, pid) != snapshot:
            about = thread.get("process_info")
            process = collector.processes[stream.begin(pid=pid, parent=_parent(about))]
            title = _text(about.get("command_line")) if type(about) is dict else ""
            if (told := rank_in(title)) is not None:
                process.rank, process.rank_from = told, "content"
            else:
                process.place = place_in(title)
            snapshot = (index, pid)
        assert stream.process is not None
        collector.add(stream.process, _draft(thread, line), "pyspy_json")
    stream.close()


def _lists(data: bytes) -> tuple[list[list[Any]], bool]:
    """The lists in the document, and whether nothing of it was lost."""
    try:
        value = msgspec.json.decode(data)
        return ([value] if type(value) is list else [[value]]), True
    except (msgspec.DecodeError, RecursionError, ValueError):
        pass
    text = data.decode("utf-8", "replace")
    decoder = json.JSONDecoder()
    found: list[list[Any]] = []
    place = 0
    while len(found) < _MOST_LISTS:
        while place < len(text) and text[place] in " \t\r\n":
            place += 1
        if place == len(text):
            return found, True
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            found.append(_salvaged(decoder, text, place))
            return found, False
        found.append(value if type(value) is list else [value])
    return found, False


def _salvaged(decoder: json.JSONDecoder, text: str, place: int) -> list[Any]:
    """The threads before the damage in a list that cannot be read as a whole."""
    threads: list[Any] = []
    place = text.find("{", place)
    while place >= 0 and len(threads) < bounds.THREADS:
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            break
        threads.append(value)
        place = text.find("{", place)
    return threads


def _parent(info: Any) -> int | None:
    if type(info) is not dict:
        return None
    parent = info.get("parent")
    return bounds.small(parent.get("pid") if type(parent) is dict else info.get("ppid"))


def _text(value: Any) -> str:
    return value if type(value) is str else ""


def _flag(value: Any) -> bool | None:
    return value if type(value) is bool else None


def _draft(thread: dict[str, Any], line: int) -> Draft:
    draft = Draft(
        line,
        thread_id=bounds.small(thread.get("thread_id")),
        os_thread=bounds.small(thread.get("os_thread_id")),
        name=_text(thread.get("thread_name")),
        active=_flag(thread.get("active")),
        owns_gil=_flag(thread.get("owns_gil")),
    )
    room = bounds.LOCALS
    for value in thread["frames"]:
        if type(value) is not dict:
            draft.cut = True
            continue
        file = _text(value.get("filename"))
        made = frame(_text(value.get("name")), file, bounds.small(value.get("line")))
        draft.frames.append(made)
        draft.native = draft.native or is_native(file)
        variables = value.get("locals")
        if type(variables) is list and room > 0:
            for variable in variables[:64]:
                if type(variable) is dict and room > 0:
                    name, said = _text(variable.get("name")), _text(variable.get("repr"))
                    if kept := asked(made, name, said):
                        draft.asked.append(kept)
                    if (rank := own_rank(made, name, said)) is not None:
                        draft.ranks.add(rank)
                    shown = f"{name}: {said}"
                    draft.locals.append(f"{made.function}: {bounds.short(shown, bounds.VALUE)}")
                    room -= len(draft.locals[-1]) + 1
    return draft
