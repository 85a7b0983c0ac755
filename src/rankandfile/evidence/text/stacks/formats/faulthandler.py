"""Stacks as Python's faulthandler prints them: on a fatal error, after a time, on a signal, or when asked.

    Fatal Python error: Aborted

    Current thread 0x00007f9bd4df6b80 [python] (most recent call first):
      Garbage-collecting
      File "/job/train.py", line 22 in <module>

No names before 3.14, at most 100 frames, strings cut at 500 characters; ``<no Python frame>`` for a thread that
runs C++ only. A process that was asked twice appends the second snapshot to the first, with nothing between.
"""

from __future__ import annotations

import re

from rankandfile.evidence.text.stacks import bounds
from rankandfile.evidence.text.stacks.collector import Draft, frame
from rankandfile.evidence.text.stacks.raw import DIED, NOW
from rankandfile.evidence.text.stacks.stream import Block, Format, Stream

ORDER = 20

_FATAL = re.compile(r"Fatal Python error: (.*)$")
_TIMEOUT = re.compile(r"^\s*Timeout \((\d{1,9}:\d\d:\d\d(?:\.\d{1,9})?)\)!$")
_THREAD = re.compile(
    r"(?:(Current thread|Thread) 0x([0-9a-fA-F]{1,16})(?: \[(.{0,128})\])?|^\s*Stack) \(most recent call first\):\s*$"
)
_FRAME = re.compile(r'^\s*File (?:"(.*)"|\?\?\?), line (\d{1,9}|\?\?\?),? in (.*)$')
_LEFT_OUT = re.compile(r"^\s*(\.\.\.( and \d+ more frames)?|<truncated rest of calls>)$")
_NO_FRAME = re.compile(r"^\s*<[a-z][\w ]*>$")
_MOST = 100
_COLLECTING = re.compile(r"^\s*Garbage-collecting$")


def _open(number: int, text: str, stream: Stream) -> Block | None:
    if match := _FATAL.search(text):
        stream.begin(error=f"Fatal Python error: {match[1]}")
    elif match := _TIMEOUT.search(text):
        stream.begin()
    elif match := _THREAD.search(text):
        return _Thread(number, match, stream)
    return None


class _Thread:
    complete = False

    def __init__(self, number: int, match: re.Match[str], stream: Stream) -> None:
        kind, ident, name = match.groups()
        self.stream = stream
        self.draft = Draft(
            number, thread_id=bounds.hexadecimal(ident), name=name or "", current=kind != "Thread"
        )
        self.process = stream.snapshot_with(self.draft.thread_id)

    def feed(self, text: str) -> bool:
        draft = self.draft
        if match := _FRAME.match(text):
            if len(draft.frames) < bounds.INNER + bounds.OUTER:
                draft.frames.append(frame(match[3], match[1] or "???", bounds.decimal(_digits(match[2]))))
            return True
        if _COLLECTING.match(text):
            draft.frames.append(frame("Garbage-collecting", "<gc>", 0))
        elif _LEFT_OUT.match(text):
            draft.cut = True
        elif not _NO_FRAME.match(text):
            # Another writer's text in the middle of a line: what it hid cannot be known.
            draft.cut = draft.cut or 'File "' in text
            return False
        return True

    def close(self) -> None:
        frames = self.draft.frames
        # Some versions do not mark where it stopped.
        if len(frames) == _MOST and frames[-1].function not in ("<module>", "_bootstrap"):
            self.draft.cut = True
        died = bool(self.stream.collector.processes[self.process].error)
        self.draft.shows = DIED if died else NOW
        self.stream.collector.add(self.process, self.draft, "faulthandler")


def _digits(text: str) -> str | None:
    return text if text.isascii() and text.isdigit() else None


FORMAT = Format(r"most recent call|Fatal Python|Timeout \(", _open)
