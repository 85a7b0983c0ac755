"""C++ frames that torch prints with an exception.

    Exception raised from checkTimeout at ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:632 (most recent ..
    frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x96 (0x7f5c in /venv/../libc10.so)

They are the messenger's: where somebody noticed, not where the program was.
"""

from __future__ import annotations

import re

from rankandfile.evidence.text.stacks import bounds
from rankandfile.evidence.text.stacks.collector import Draft, frame
from rankandfile.evidence.text.stacks.raw import RAISED
from rankandfile.evidence.text.stacks.stream import Block, Format, Stream

ORDER = 70

_RAISED = re.compile(r"Exception raised from (\S{1,200}) at (\S{1,500}):(\d{1,9}) \(most recent call first\)")
_FRAME = re.compile(
    r"^\s*frame #(\d{1,4}): (.+?)(?: \+ 0x[0-9a-f]{1,16})?(?: \(0x[0-9a-f]{1,16} in (.+)\)| in (/\S+))?\s*$"
)


def _open(number: int, text: str, stream: Stream) -> Block | None:
    if match := _RAISED.search(text):
        return _Raised(number, stream, f"raised from {match[1]} at {match[2]}:{match[3]}")
    return None


class _Raised:
    complete = False

    def __init__(self, number: int, stream: Stream, error: str) -> None:
        self.stream = stream
        self.draft = Draft(number, shows=RAISED, native=True, error=error)

    def feed(self, text: str) -> bool:
        match = _FRAME.match(text)
        if match is None or int(match[1]) != len(self.draft.frames):
            return False
        if len(self.draft.frames) < bounds.INNER:
            self.draft.frames.append(frame(match[2], match[3] or match[4] or "??", None))
        return True

    def close(self) -> None:
        if self.draft.frames:
            self.stream.add_alone(self.draft, "cpp")


FORMAT = Format(r"Exception raised from", _open)
