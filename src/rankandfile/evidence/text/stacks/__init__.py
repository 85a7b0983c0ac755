"""Stacks: where every thread of every process was. One module per format; `read` and `read_log` are the door.

Both work in a decoding process: they import no Polars, raise nothing on bad data, and keep within
`bounds`. `assemble` makes the tables of what they found.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO

from rankandfile.evidence.text.stacks import bounds, logs, pyspy_json
from rankandfile.evidence.text.stacks.collector import Collector
from rankandfile.evidence.text.stacks.raw import RawProcess, RawStacks, RawThread
from rankandfile.evidence.text.stacks.reader import read_lines

__all__ = ["RawProcess", "RawStacks", "RawThread", "read", "read_log"]


def read(path: Path, name: str) -> RawStacks:
    """All stacks of a file that holds little else: of py-spy, faulthandler, the debug server, gdb, ..."""
    collector = Collector()
    try:
        with path.open("rb") as file:
            if file.peek(256)[:256].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"[", b"{") and _is_json(
                file, name
            ):
                _read_json(file, collector)
            else:
                read_lines(_lines(file, collector), collector)
    except OSError as error:
        collector.note("", f"cannot be read: {error.strerror or error}")
    return collector.finish()


def read_log(path: Path) -> RawStacks:
    """The stacks that stand in a log: tracebacks, faulthandler's, the watchdog's. Finds few in most."""
    collector = Collector(threads=bounds.LOG_THREADS)
    try:
        logs.read(path, collector)
    except OSError as error:
        collector.note("", f"cannot be read: {error.strerror or error}")
    return collector.finish()


def _is_json(file: IO[bytes], name: str) -> bool:
    """A list of threads, and not a line that begins with `[rank3]:`."""
    head = file.read(4096)
    file.seek(0)
    return name.endswith(".json") or b'"frames"' in head or b'"thread_id"' in head


def _read_json(file: IO[bytes], collector: Collector) -> None:
    data = file.read(bounds.JSON_FILE + 1)
    if len(data) > bounds.JSON_FILE:
        collector.note("", f"larger than {bounds.JSON_FILE:,} bytes: the rest is not read")
        data = data[: bounds.JSON_FILE]
    pyspy_json.read(data, collector)


def _lines(file: IO[bytes], collector: Collector) -> Iterator[tuple[int, str]]:
    number, place = 0, 0
    while line := file.readline(bounds.LINE):
        number += 1
        yield number, line.decode("utf-8", "replace").rstrip("\r\n")
        while not line.endswith(b"\n"):
            # The rest of a line that is longer than any real one.
            place += len(line)
            line = file.readline(bounds.LINE)
            if not line:
                return
        place += len(line)
        if place > bounds.TEXT_FILE:
            collector.note(str(number), f"larger than {bounds.TEXT_FILE:,} bytes: the rest is not read")
            return
