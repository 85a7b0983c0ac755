"""Stacks that a program printed of itself: `traceback.print_stack`, or a loop over `sys._current_frames`.

    # ThreadID: 140012 (MainThread)
      File "/job/train.py", line 22, in <module>
        main()
    File: "/job/feed.py", line 31, in take

Outermost frame first, and no exception behind them. What stands above tells the thread at best.
"""

from __future__ import annotations

import re

from rankandfile.evidence.text.stacks import bounds
from rankandfile.evidence.text.stacks.collector import Draft, frame
from rankandfile.evidence.text.stacks.stream import Block, Format, Stream

ORDER = 90

_THREAD = re.compile(
    r"^[\W_]*(?!Thread debugging using)(?:thread(?:[ _]?id)?|stack(?: ?trace)? (?:of|for)(?: the)?)"
    r"\b[ :=]*(.{1,80}?)\W*$",
    re.IGNORECASE,
)
_FRAME = re.compile(r'^\s*File:? "([^"]{1,1000})", line (\d{1,9}),? in (\S.{0,200})$')
_RAISED = re.compile(r"^[A-Za-z_][\w.]{0,200}(?:Error|Exception|Interrupt|Exit|Warning)\b")
#: One line alone is quoted by many.
_FEWEST = 2


def _open(number: int, text: str, stream: Stream) -> Block | None:
    if _FRAME.match(text):
        block = _Printed(number, stream)
        block.feed(text)
        return block
    if match := _THREAD.match(text):
        stream.thread_name = "MainThread" if "mainthread" in text.lower().replace(" ", "") else match[1]
    return None


class _Printed:
    complete = False

    def __init__(self, number: int, stream: Stream) -> None:
        self.stream = stream
        self.draft = Draft(number, name=stream.thread_name)
        self.raised = False
        stream.thread_name = ""

    def feed(self, text: str) -> bool:
        draft = self.draft
        if match := _FRAME.match(text):
            if draft.frames and match[3] == "<module>":
                # The outermost one: it is the next stack's.
                return False
            if len(draft.frames) < bounds.INNER + bounds.OUTER:
                draft.frames.append(frame(match[3], match[1], bounds.decimal(match[2])))
                draft.code = ""
            return True
        if text[:1].isspace() and text.strip() and not draft.code:
            draft.code = text.strip()
            return True
        self.raised = _RAISED.match(text) is not None
        return False

    def close(self) -> None:
        frames, stream = self.draft.frames, self.stream
        if len(frames) < _FEWEST or self.raised:
            return
        frames.reverse()
        process = stream.snapshot_with(self.draft.name or "alone")
        stream.collector.add(process, self.draft, "printed")


FORMAT = Format(r'File:? "|(?i:thread|stack)', _open)
