"""Python tracebacks, as they stand in logs: outermost frame first, the exception after them, often in a chain.

    Traceback (most recent call last):
      File "/job/train.py", line 22, in <module>
        main()
        ~~~~^^
    ValueError: bad batch 17

    During handling of the above exception, another exception occurred:

The first of a chain is the origin. Where somebody pressed Ctrl-C, it shows where the process stood just then. A
data-loading worker's own traceback stands *after* the exception that carries it into the main process, as part of its
message.
"""

from __future__ import annotations

import re

from rankandfile.evidence.text.stacks import bounds
from rankandfile.evidence.text.stacks.collector import Draft, frame
from rankandfile.evidence.text.stacks.raw import NOW, RAISED
from rankandfile.evidence.text.stacks.stream import Block, Format, Stream

ORDER = 40

_START = re.compile(r"(Original |Exception Group )?Traceback \(most recent call last\):\s*$")
_CONNECTS = re.compile(
    r"^[\s|]*(The above exception was the direct cause of|During handling of the above exception)"
)
_IN_THREAD = re.compile(r"Exception in thread (.{1,200}?):\s*$")
_IGNORED = re.compile(r"Exception ignored in:? ")
_FRAME = re.compile(r'^([\s|+]*)File "(.*)", line (\d{1,9})(?:, in (.*))?$')
_MARKS = re.compile(r"^[\s|~^]*$")
_REPEATED = re.compile(r"^\s*\[Previous line repeated \d+ more times?\]$")


def _open(number: int, text: str, stream: Stream) -> Block | None:
    if match := _START.search(text):
        return _Traceback(number, stream, original=match[1] == "Original ")
    if _CONNECTS.match(text):
        stream.connected = True
    elif match := _IN_THREAD.search(text):
        stream.thread_name = match[1]
    elif _IGNORED.search(text):
        stream.ignored = True
    return None


class _Traceback:
    def __init__(self, number: int, stream: Stream, original: bool) -> None:
        self.stream = stream
        self.original = original
        self.draft = Draft(number, shows=RAISED, name=stream.thread_name)
        self.indent: int | None = None
        self.complete = False

    def feed(self, text: str) -> bool:
        draft = self.draft
        if match := _FRAME.match(text):
            if self.indent is None:
                self.indent = len(match[1])
            if len(draft.frames) < bounds.INNER + bounds.OUTER:
                draft.frames.append(frame(match[4] or "", match[2], bounds.decimal(match[3])))
                draft.code = ""
            else:
                draft.cut = True
            return True
        if self.indent is None:
            return False
        body = text.lstrip(" |+\t")
        if len(text) - len(body) >= self.indent:
            if _REPEATED.match(text):
                draft.cut = True
            elif not draft.code and not _MARKS.match(text):
                draft.code = body
            return True
        if not body:
            return False
        draft.error = body
        self.complete = True
        return True

    def close(self) -> None:
        draft, stream = self.draft, self.stream
        if not draft.frames:
            return
        draft.frames.reverse()
        draft.cut = draft.cut or not draft.error
        if draft.error == "KeyboardInterrupt" and not (stream.connected or stream.ignored):
            draft.shows = NOW
        if stream.ignored:
            draft.error = f"ignored: {draft.error}"
        threads = stream.collector.threads
        before = stream.last_raised
        row = stream.add_alone(draft, "traceback")
        if row < len(threads) and before is not None:
            if self.original:
                threads[before].follows = draft.line
            elif stream.connected:
                threads[row].follows = threads[before].line
        stream.last_raised = row if row < len(threads) else None
        stream.connected = stream.ignored = False
        stream.thread_name = ""


FORMAT = Format(r"most recent call|exception|Exception", _open)
