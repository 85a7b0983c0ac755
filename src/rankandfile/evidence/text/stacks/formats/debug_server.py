"""The files of torch's debug server: one section per rank, with what that rank's handler answered.

    PARTIAL DATA: 1/2 workers responded
      Rank 1: timed out
    === Rank 0: http://node07:40425/handler/dump_traceback? ===
    Thread 0x00007f9bb27806c0 (most recent call first):
    === Rank 1: http://node07:40426/handler/dump_traceback? ===
    Error: 500

Whoever did not answer may have been unable to: `dump_traceback` needs the interpreter's lock.
"""

from __future__ import annotations

import re

from rankandfile.evidence.text.stacks import bounds
from rankandfile.evidence.text.stacks.stream import Block, Format, Stream

ORDER = 10

_HEADER = re.compile(r"^\s*=== Rank (\d{1,7}): (\S*)(?: .*)? ===\s*$")
_HOST = re.compile(r"^https?://(?:\[([^\]]{1,80})\]|([^/:]{1,253}))")
_PARTIAL = re.compile(r"^PARTIAL DATA: (\d+)/(\d+) workers responded")
_FAILED = re.compile(r"^\s+Rank (\d{1,7}): (.*)$")
_ERROR = re.compile(r"^Error: (.*)$")


def _open(number: int, text: str, stream: Stream) -> Block | None:
    if match := _HEADER.match(text):
        stream.end()
        stream.rank, stream.rank_from = int(match[1]), "content"
        host = _HOST.match(match[2])
        stream.host = (host[1] or host[2]) if host else None
        stream.collector.formats.setdefault("debug_server")
        return _Section(number, stream, int(match[1]))
    if match := _PARTIAL.match(text):
        stream.collector.note(str(number), f"{match[1]} of {match[2]} ranks answered the debug server")
        return _Failures(number, stream)
    return None


class _Section:
    """The first line under a header may be an error instead of stacks."""

    complete = False

    def __init__(self, number: int, stream: Stream, rank: int) -> None:
        self.number = number
        self.stream = stream
        self.rank = rank

    def feed(self, text: str) -> bool:
        if not text.strip():
            return True
        if match := _ERROR.match(text):
            self.stream.collector.unanswered.append(self.rank)
            self.stream.collector.note(
                str(self.number), f"rank {self.rank} answered with an error: {bounds.short(match[1], 200)}"
            )
            return True
        return False

    def close(self) -> None:
        return


class _Failures:
    complete = False

    def __init__(self, number: int, stream: Stream) -> None:
        self.number = number
        self.stream = stream

    def feed(self, text: str) -> bool:
        match = _FAILED.match(text)
        if match:
            self.stream.collector.unanswered.append(int(match[1]))
            self.stream.collector.note(
                str(self.number), f"rank {int(match[1])} did not answer: {bounds.short(match[2], 200)}"
            )
        return match is not None

    def close(self) -> None:
        return


FORMAT = Format(r"=== Rank|PARTIAL DATA", _open)
