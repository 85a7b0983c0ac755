"""What launchers and loggers put before a line: taken off, and read for what it tells.

Lines with the same prefix (its times aside) come from one writer: interleaved stacks of several ranks are told
apart by it.
"""

from __future__ import annotations

import re
from datetime import datetime, timezone
from typing import NamedTuple


class Peeled(NamedTuple):
    key: str
    """The writer: all prefixes without times."""
    rank: int | None
    """Global rank, if a prefix tells it."""
    text: str
    """The line itself, its indentation kept."""
    at_ns: int | None = None


_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_PREFIX = re.compile(
    r"(?P<rank>\[rank(?P<r>\d{1,7})\[?\]: ?)"
    r"|(?P<c10>\[[IWEFV](?:\d{3,4} \d\d:\d\d:\d\d\.\d{1,9} )?[\w./]+:\d+\] )"
    r"|(?P<writer>\[pod/[^\]]{1,200}\] |\[\d+,\d+\]<std\w+>: ?|\[[A-Za-z_]\w{0,40}?\d{1,7}(?:\|\d+)?\]: ?"
    r"|\(\w{1,80}(?:\([^)]{0,80}\))? pid=\d+(?:, ip=[^)]{1,60})?\) ?|[\w.-]{1,100} +\| | {0,5}\d{1,6}: "
    r"|[a-z][a-z.-]*\d[a-z0-9.-]{0,80}: )"
    r"|(?P<time>\[?(?P<t>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)(?:Z|[+-]\d\d:?\d\d)?\]? "
    r"(?:std(?:out|err) [FP] )?|\d\d:\d\d:\d\d(?:[.,]\d{1,9})? )"
)
_MOST = 8


def peel(line: str) -> Peeled:
    if "\x1b" in line:
        line = _ANSI.sub("", line)
    if "\r" in line:
        line = line.rstrip("\r").rpartition("\r")[2]
    match = _PREFIX.match(line)
    if match is None:
        return Peeled("", None, line)
    writers: list[str] = []
    rank_prefix = ""
    rank: int | None = None
    at: int | None = None
    place = 0
    for _ in range(_MOST):
        if match["rank"]:
            rank, rank_prefix = int(match["r"]), f"[rank{int(match['r'])}]"
        elif match["c10"]:
            # Only the first line of a C++ message has its prefix: those after it belong to the bare writer.
            rank_prefix = ""
        elif match["writer"]:
            writers.append(match["writer"].strip())
        elif match["t"]:
            at = instant(match["t"])
        place = match.end()
        match = _PREFIX.match(line, place)
        if match is None:
            break
    return Peeled("".join(writers) + rank_prefix, rank, line[place:], at)


def instant(text: str) -> int | None:
    """Nanoseconds of a written time, read as UTC."""
    seconds, _, fraction = text.replace("T", " ").replace(",", ".").partition(".")
    try:
        moment = datetime.strptime(seconds, "%Y-%m-%d %H:%M:%S").replace(tzinfo=timezone.utc)
    except ValueError:
        return None
    nanoseconds = int(fraction.ljust(9, "0")[:9]) if fraction.isdecimal() else 0
    return int(moment.timestamp()) * 1_000_000_000 + nanoseconds
