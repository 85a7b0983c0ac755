"""One pass over the lines of a file: its events and its stacks."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.raw import RawNote
from rankandfile.evidence.text import envelopes, newest_first, web_pages
from rankandfile.evidence.text.logs.needles import finder
from rankandfile.evidence.text.logs.ras import as_json
from rankandfile.evidence.text.logs.reading import Events
from rankandfile.evidence.text.scan import Scan
from rankandfile.evidence.text.stacks import bounds, pyspy_json
from rankandfile.evidence.text.stacks.collector import Collector
from rankandfile.evidence.text.stacks.in_logs import InLog
from rankandfile.evidence.text.stacks.reader import Reader

#: Lines that are those of stacks: a file of nothing else is no log.
_OF_STACKS = frozenset(("thread_stack",))

_SMALL = 64 << 10


def read_log(path: Path, _name: str = "") -> Decoded:
    """The events of a log, and the few stacks that stand in it. Raises OSError only."""
    with path.open("rb") as opened:
        size = os.fstat(opened.fileno()).st_size
        # A small one is read once: there may be a hundred thousand, and what is slow about them is to ask.
        file = BytesIO(opened.read(size)) if size <= _SMALL else opened
        head = file.read(4096)
        file.seek(0)
        if as_json.is_one(head):
            return Decoded(log=as_json.log(file.read(as_json.MOST + 1), size))
        if envelopes.is_document(head) and size <= envelopes.MOST:
            lines = envelopes.lines_of(file.read())
            if lines is not None:
                return _read(BytesIO(lines), Collector(threads=bounds.LOG_THREADS), len(lines), every=False)
        if (lines := newest_first.turned(file, size)) is not None:
            found = _read(BytesIO(lines), Collector(threads=bounds.LOG_THREADS), len(lines), every=False)
            if found.log is not None:
                what = "its newest line comes first: its lines are counted from the last one on"
                found.log.notes.append(RawNote("", what))
            return found
        file.seek(0)
        return _read(file, Collector(threads=bounds.LOG_THREADS), size, every=False)


def read_stacks(path: Path, name: str) -> Decoded:
    """The stacks of a file that holds little else, and what else it says. Raises OSError only."""
    collector = Collector()
    with path.open("rb") as file:
        if _is_json(file.read(4096), name):
            file.seek(0)
            pyspy_json.read_file(file, collector)
            return Decoded(stacks=collector.finish())
        file.seek(0)
        found = _read(file, collector, os.fstat(file.fileno()).st_size, every=True)
    found.stacks = found.stacks or collector.finish()
    if found.log is not None and set(found.log.columns.get("kind", ())) <= _OF_STACKS:
        found.stacks.told, found.log = found.log.told, None
    return found


def read_page(path: Path, _name: str) -> Decoded:
    """The stacks that a page of the debug server shows. Raises OSError only."""
    with path.open("rb") as file:
        text = web_pages.shown(file.read(bounds.JSON_FILE).decode("utf-8", "replace")).encode()
    collector = Collector()
    _read(BytesIO(text), collector, len(text), every=True)
    return Decoded(stacks=collector.finish() if collector.threads else None)


def _read(file: BinaryIO, collector: Collector, size: int, *, every: bool) -> Decoded:
    """With `every` line, whatever its words, as a part of some stack."""
    scan = Scan(file, finder(size), every)
    events = Events(scan, size)
    reader = Reader(collector)
    take = reader.take if every else InLog(reader).take
    for line in scan:
        if every:
            events.listener.hear(line.taken)
        if line.tells:
            events.take(line)
        take(line)
    reader.close()
    return Decoded(stacks=collector.finish() if collector.threads else None, log=events.log(file))


def _is_json(head: bytes, name: str) -> bool:
    """A list of threads, and not a line that begins with `[rank3]:`."""
    return head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"[", b"{") and (
        name.endswith(".json") or b'"frames"' in head or b'"thread_id"' in head
    )
