"""The stack that torch's watchdog prints for the call it gave up on.

    [rank3]:[E511 17:02:13.640171617 ProcessGroupNCCL.cpp:733] Stack trace of the failed collective:
    #0 broadcast from /venv/lib/python3.12/site-packages/torch/distributed/distributed_c10d.py:3145
    #1 sync_flags from /job/train/loop.py:412

It shows where the *call was issued*. Where the host went from there it does not say.
"""

from __future__ import annotations

import re

from rankandfile.evidence.text.stacks import bounds
from rankandfile.evidence.text.stacks.collector import Draft, frame
from rankandfile.evidence.text.stacks.raw import ISSUED
from rankandfile.evidence.text.stacks.stream import Block, Format, Stream

ORDER = 50

_START = re.compile(r"Stack trace of the failed collective:\s*$")
_FRAME = re.compile(r"^\s*#(\d{1,4}) (.+?) from (.*):(\d{1,9})$")


def _open(number: int, text: str, stream: Stream) -> Block | None:
    return _Issued(number, stream) if _START.search(text) else None


class _Issued:
    complete = False

    def __init__(self, number: int, stream: Stream) -> None:
        self.stream = stream
        # The lines that follow have no prefix: the rank must be kept from this one.
        self.rank, self.rank_from, self.at_ns = stream.rank, stream.rank_from, stream.at_ns
        self.draft = Draft(number, shows=ISSUED)

    def feed(self, text: str) -> bool:
        match = _FRAME.match(text)
        if match is None or int(match[1]) != len(self.draft.frames):
            # Another rank's frames: this one's list was cut in two, and the rest cannot be told from theirs.
            self.draft.cut = self.draft.cut or match is not None
            return False
        self.draft.frames.append(frame(match[2], match[3], bounds.decimal(match[4])))
        return True

    def close(self) -> None:
        if self.draft.frames:
            stream = self.stream
            now = stream.rank, stream.rank_from, stream.at_ns
            stream.rank, stream.rank_from, stream.at_ns = self.rank, self.rank_from, self.at_ns
            stream.add_alone(self.draft, "watchdog")
            stream.rank, stream.rank_from, stream.at_ns = now


FORMAT = Format(r"Stack trace of", _open)
