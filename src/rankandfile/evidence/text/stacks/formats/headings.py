"""What a person writes above a stack: whose it is, and when it was taken.

=== rank 3 (node07) ===
$ date; py-spy dump --pid 88427
Fri Aug 29 19:33:15 CEST 2025
# 10:00:20
"""

from __future__ import annotations

import re

from rankandfile.evidence.text.stacks.stream import Block, Format, Stream
from rankandfile.evidence.text.stamps import Stamp, month, stamp, time_of_day

ORDER = 5

#: Nothing but the rank, and where it ran.
_RANK = re.compile(
    r"^[\W_]*(?:global )?rank[ _=:#]*(\d{1,6})\b[\W_]*(?:(?:on|at|host|node|pid|gpu|local)\b[^.]{0,60}"
    r"|\([^()]{0,60}\)[\W_]*|[\w.-]*\d[\w.-]*[\W_]*)?$",
    re.IGNORECASE,
)
_CALENDAR = re.compile(
    r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?:(?P<month>[A-Z][a-z]{2}) {1,2}(?P<day>\d{1,2}))"
    r" (?P<clock>\d\d:\d\d:\d\d)(?: (?P<half>[AP]M))?"
    r"(?: [A-Z]{2,5}| [+-]\d{2,4})?(?: (?P<year>\d{4}))?\b"
)
_ISO = re.compile(r"^\W*(?:date\W*)?(\d{4})-(\d\d)-(\d\d)[T ](\d\d:\d\d:\d\d)\b.{0,40}$")
_CLOCK = re.compile(r"(?:^|[#=>-])\W*(?:(?:at|time|date|taken)\W+)?(\d\d:\d\d:\d\d)\W*$")


def _open(_number: int, text: str, stream: Stream) -> Block | None:
    if len(text) > 200:
        return None
    if match := _RANK.match(text):
        stream.end()
        stream.headed = int(match[1])
    elif (taken := _time(text)) is not None:
        stream.end()
        stream.at_ns = taken.ns
    return None


def _time(text: str) -> Stamp | None:
    """Of a day where one is told; what is not told is no matter, where only looks are compared."""
    if match := _CALENDAR.search(text):
        clock = _of_24(match["clock"], match["half"])
        return stamp(
            int(match["year"]) if match["year"] else None, month(match["month"]), int(match["day"]), clock
        )
    if match := _ISO.match(text):
        return stamp(int(match[1]), int(match[2]), int(match[3]), match[4])
    if match := _CLOCK.search(text):
        return time_of_day(match[1], None)
    return None


def _of_24(clock: str, half: str | None) -> str:
    hours = int(clock[:2]) % 12 + (12 if half == "PM" else 0)
    return f"{hours:02}{clock[2:]}" if half else clock


FORMAT = Format(r"(?i:\brank[ _=:#]*\d)|\d\d:\d\d:\d\d", _open)
