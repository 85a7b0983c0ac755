"""Lines at the end of a log that look like a failure and that no shape knows: shown where nothing else decides."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rankandfile.evidence.text.bare_line import BareLine
from rankandfile.evidence.text.logs.event import Event, begin

_LOOKS = re.compile(
    r"\b(?:ERROR|FATAL|CRITICAL|PANIC)\b|(?i:\b(?:fatal|panic|hung|hang|stuck|deadlock\w*|timed out|timeout|aborted|"
    r"crashed|killed|lost connection|unreachable|not responding|failed|failure)\b)|\b\w+(?:Error|Exception)\b"
)
#: What every such line has, in small letters.
_SIGNS = (
    *(
        "error",
        "fatal",
        "critical",
        "panic",
        "hung",
        "hang",
        "stuck",
        "deadlock",
        "timed out",
        "timeout",
        "abort",
    ),
    *("crashed", "killed", "lost connection", "unreachable", "not responding", "fail", "exception"),
)
_MOST = 4
_LOOKED = 80


def unread_in(tail: Sequence[BareLine], lines: int) -> list[Event]:
    """The last few of them, each of its own words."""
    written = "\n".join(bare.body[:400] for bare in tail[-_LOOKED:]).lower()
    if not any(sign in written for sign in _SIGNS):
        return []
    found: dict[str, Event] = {}
    first = lines - len(tail) + 1
    for place in range(len(tail) - 1, max(-1, len(tail) - 1 - _LOOKED), -1):
        bare = tail[place]
        if bare.body[:1].isspace() or not _LOOKS.search(bare.body[:400]):
            continue
        event = begin("unread", "P9", "fact", bare, first + place, 0)
        found.setdefault(re.sub(r"\d+", "#", event.text[:80]), event)
        if len(found) == _MOST:
            break
    return sorted(found.values(), key=lambda event: event.line)
