"""Native stacks as lldb prints them (``bt``, ``bt all``, ``thread backtrace all``).

* thread #1, name = 'solver', stop reason = signal SIGSTOP
  * frame #0: 0x00007ffff7a5b3c7 libc.so.6`__poll + 77
    frame #1: 0x0000000000407a11 solver`residual(r=0x1) at krylov.c:233:5
"""

from __future__ import annotations

import re

from rankandfile.evidence.text.stacks import bounds
from rankandfile.evidence.text.stacks.collector import Draft, frame
from rankandfile.evidence.text.stacks.stream import Block, Format, Stream

ORDER = 65

_ATTACHED = re.compile(r"^(?:\(lldb\) )?(?:process attach (?:-p|--pid) |Process )(\d{1,10})\b")
_THREAD = re.compile(r"^\s*(?:\* )?thread #(\d{1,9})(?:: tid = (\d{1,10}))?(?:, name = '([^'\n]{0,64})')?")
_FRAME = re.compile(
    r"^\s*(?:\* )?frame #\d{1,4}: 0x[0-9a-f]{1,16} (\S{1,200}?)`(.{1,400}?)(?: \+ \d+)?"
    r"(?: at (\S+?):(\d{1,9})(?::\d+)?)?\s*$"
)


def _open(number: int, text: str, stream: Stream) -> Block | None:
    if match := _THREAD.match(text):
        return _Thread(
            Draft(number, name=match[3] or "", os_thread=bounds.decimal(match[2])), match[1], stream
        )
    if (match := _ATTACHED.match(text)) and stream.process is None:
        stream.begin(pid=bounds.decimal(match[1]))
    return None


class _Thread:
    complete = False

    def __init__(self, draft: Draft, number: str, stream: Stream) -> None:
        self.stream = stream
        self.draft = draft
        self.draft.native = True
        self.process = stream.snapshot_with(("lldb", number))

    def feed(self, text: str) -> bool:
        if (match := _FRAME.match(text)) is None:
            return False
        library, function, file, line = match.groups()
        if len(self.draft.frames) < 2 * (bounds.INNER + bounds.OUTER):
            # Arguments stand right behind the name.
            name = function.partition("(")[0] if not function.startswith("(") else function
            self.draft.frames.append(frame(name, file or library, bounds.decimal(line)))
        return True

    def close(self) -> None:
        self.stream.collector.add(self.process, self.draft, "lldb")


FORMAT = Format(r"thread #\d|\(lldb\)", _open)
