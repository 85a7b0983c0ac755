"""Stacks as ``py-spy dump`` prints them, with or without ``--native``, ``--locals`` and ``--subprocesses``.

    Process 4242: python train.py
    Python v3.11.7 (/usr/bin/python3.11)

    Thread 4242 (idle): "MainThread"
        Connection._poll (multiprocessing/connection.py:440)
            Arguments:
                timeout: 5.0

A native frame has a library or a C file for its place, and often no line.
"""

from __future__ import annotations

import re

from rankandfile.evidence.text.stacks import bounds
from rankandfile.evidence.text.stacks.call_arguments import asked
from rankandfile.evidence.text.stacks.collector import Draft, frame
from rankandfile.evidence.text.stacks.stream import Block, Format, Stream
from rankandfile.evidence.text.stacks.titles import place_in, rank_in
from rankandfile.evidence.text.stacks.variables import own_rank

ORDER = 30

_PROCESS = re.compile(r"^\s*Process (\d{1,10}): (.*)")
_PARENT = re.compile(r"^\s*Parent Process (\d{1,10}): ")
_THREAD = re.compile(
    r'^\s*Thread (0x[0-9A-Fa-f]{1,16}|\d{1,20}) \((idle|active|active\+gil)\)(?:: "(.*)")?\s*$'
)
_FRAME = re.compile(r"^\s{1,6}(\S.*?) \(([^()]*?)(?::(\d{1,9}))?\)\s*$")
_ODD_FRAME = re.compile(r"^\s{1,6}(\S+) \((.*?)(?::(\d{1,9}))?\)\s*$")
_VARIABLES = re.compile(r"^\s{7,8}(?:Arguments|Locals):$")
_VARIABLE = re.compile(r"^\s{9,}(\S.*)$")
_NATIVE = re.compile(r"\.so[.\d]*$|\.(?:c|cc|cpp|cxx|cu|h|hpp|rs)$|^\S*python3?[.\d]*$|^\?*$|^\[?vdso\]?$")


def _open(number: int, text: str, stream: Stream) -> Block | None:
    if match := _PROCESS.match(text):
        process = stream.collector.processes[stream.begin(pid=bounds.decimal(match[1]))]
        told = rank_in(match[2]) if process.rank is None else None
        if told is not None:
            process.rank, process.rank_from = told, "content"
        elif process.place is None:
            process.place = place_in(match[2])
    elif match := _PARENT.match(text):
        if stream.process is not None:
            stream.collector.processes[stream.process].parent = bounds.decimal(match[1])
    elif match := _THREAD.match(text):
        return _Thread(number, match, stream)
    return None


def is_native(file: str) -> bool:
    return _NATIVE.search(file) is not None


class _Thread:
    complete = False

    def __init__(self, number: int, match: re.Match[str], stream: Stream) -> None:
        ident, state, name = match.groups()
        self.stream = stream
        self.draft = Draft(number, name=name or "", active=state != "idle", owns_gil=state.endswith("gil"))
        if ident.startswith("0x"):
            self.draft.thread_id = bounds.hexadecimal(ident)
        else:
            self.draft.os_thread = bounds.decimal(ident)
        self.process = stream.snapshot_with(ident)
        self._room = bounds.LOCALS

    def feed(self, text: str) -> bool:
        if _VARIABLES.match(text):
            return True
        if match := _VARIABLE.match(text):
            self._variable(match[1])
            return True
        if match := _FRAME.match(text) or _ODD_FRAME.match(text):
            name, file, line = match.groups()
            if len(self.draft.frames) < 2 * (bounds.INNER + bounds.OUTER):
                self.draft.frames.append(frame(name, file, bounds.decimal(line)))
            self.draft.native = self.draft.native or is_native(file)
            return True
        return False

    def _variable(self, text: str) -> None:
        if self._room > 0 and self.draft.frames:
            inside = self.draft.frames[-1]
            name, _, value = text.partition(": ")
            if kept := asked(inside, name, value):
                self.draft.asked.append(kept)
            if (rank := own_rank(inside, name, value)) is not None:
                self.draft.ranks.add(rank)
            self.draft.locals.append(f"{inside.function}: {bounds.short(text, bounds.VALUE)}")
            self._room -= len(self.draft.locals[-1]) + 1

    def close(self) -> None:
        self.stream.collector.add(self.process, self.draft, "pyspy")


FORMAT = Format(r"Process |Thread ", _open)
