"""Stacks as ``pystack remote`` and ``pystack core`` print them: outermost frame first, C frames between them or not.

    Traceback for thread 912 (python) [Has the GIL] (most recent call last):
        (Python) File "/job/run.py", line 219, in <module>
            main()
        (C) File "../sysdeps/unix/sysv/linux/read.c", line 26, in read (/usr/lib/libc.so.6)

The program's own thread comes last.
"""

from __future__ import annotations

import re

from rankandfile.evidence.text.stacks import bounds
from rankandfile.evidence.text.stacks.call_arguments import asked
from rankandfile.evidence.text.stacks.collector import Draft, frame
from rankandfile.evidence.text.stacks.stream import Block, Format, Stream
from rankandfile.evidence.text.stacks.variables import own_rank, root_in_line

ORDER = 35

_THREAD = re.compile(
    r"^\s*Traceback for thread (\d{1,10})(?: \((.{0,64}?)\))?"
    r" \[(.{0,80}?)\] \(most recent call last\):"
)
#: The command above them.
_ASKED = re.compile(r"\bpystack\b(?: -\S+){0,8} remote (?:-\S+ )*(\d{2,10})\b")
_FRAME = re.compile(r'^\s{1,6}\((Python|C)\) File "(.*?)", line (\d{1,9}|\?+), in (.*?)(?: \((\S+)\))?\s*$')
_VARIABLES = re.compile(r"^\s{5,}(?:Arguments|Locals):$")
_VARIABLE = re.compile(r"^\s{8,}(\w+): (.*)$")


def _open(number: int, text: str, stream: Stream) -> Block | None:
    if match := _THREAD.match(text):
        return _Thread(number, match, stream)
    if match := _ASKED.search(text):
        stream.begin(pid=bounds.decimal(match[1]))
    return None


class _Thread:
    complete = False

    def __init__(self, number: int, match: re.Match[str], stream: Stream) -> None:
        self.stream = stream
        self.draft = Draft(
            number,
            os_thread=bounds.decimal(match[1]),
            name=match[2] or "",
            owns_gil=True if "Has the GIL" in match[3] else None,
        )
        self.process = stream.snapshot_with(self.draft.os_thread)
        self.variables = False
        self.values: dict[str, str] = {}
        """Of the last frame."""
        self._room = bounds.LOCALS

    def feed(self, text: str) -> bool:
        draft = self.draft
        if match := _FRAME.match(text):
            kind, file, line, function, library = match.groups()
            self.variables = False
            if len(draft.frames) < 2 * (bounds.INNER + bounds.OUTER):
                native = kind == "C"
                draft.native = draft.native or native
                draft.frames.append(
                    frame(function, library or file if native else file, bounds.decimal(_digits(line)))
                )
                draft.code, self.values = "", {}
            return True
        if _VARIABLES.match(text):
            self.variables = True
            return True
        if not text.startswith("        ") or not draft.frames:
            return False
        if not self.variables and not draft.code:
            draft.code = text
        elif self.variables and (match := _VARIABLE.match(text)) and self._room > 0:
            self._variable(match[1], match[2])
        return True

    def _variable(self, name: str, value: str) -> None:
        inside = self.draft.frames[-1]
        self.values[name] = value
        if kept := asked(inside, name, value):
            self.draft.asked.append(kept)
        if (rank := own_rank(inside, name, value)) is not None:
            self.draft.ranks.add(rank)
        self.draft.locals.append(f"{inside.function}: {bounds.short(f'{name}: {value}', bounds.VALUE)}")
        self._room -= len(self.draft.locals[-1]) + 1

    def close(self) -> None:
        frames, stream = self.draft.frames, self.stream
        if kept := root_in_line(self.draft.code, self.values):
            self.draft.asked.append(kept)
        frames.reverse()
        stream.collector.add(self.process, self.draft, "pystack")
        if any(one.function == "<module>" for one in frames):
            process = stream.collector.processes[self.process]
            if process.pid is None:
                # A process has the number of its first thread.
                process.pid = self.draft.os_thread
            # What follows without a heading is another process.
            stream.end()


def _digits(text: str) -> str | None:
    return text if text.isdigit() else None


FORMAT = Format(r"Traceback for thread|pystack ", _open)
