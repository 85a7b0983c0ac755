"""What ranks write, passed on so that each rank's is told apart: by the head of a line, and by files of its own.

Ranks write at the same time, and one line of one rank is one line of the terminal: a part of a line waits for the rest.
Output stays output, and errors stay errors.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import BinaryIO

#: A part of a line is passed on all the same when it is so long.
_MOST = 1 << 16
#: A progress bar ends its lines with a return, to write over them.
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|[\r\n])")
_STREAMS = ("stdout", "stderr")


class Streams:
    """Of the ranks of one attempt."""

    def __init__(self, alone: bool, attempt: int, logs: Path | None) -> None:
        """`alone`: there is one rank, and nothing to tell apart. `logs`: where each rank gets files of its own."""
        self._alone = alone
        self._folder = logs / f"attempt_{attempt}" if logs is not None else None
        self._parts: dict[tuple[int, str], bytes] = {}
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)

    def pass_on(self, rank: int, output: bytes, errors: bytes) -> None:
        for name, written in zip(_STREAMS, (output, errors), strict=True):
            if not written:
                continue
            if self._folder is not None:
                with (self._folder / f"rank_{rank}.{name}.log").open("ab") as file:
                    file.write(written)
            if self._alone:
                _write(name, written)
            else:
                self._tell(rank, name, self._parts.pop((rank, name), b"") + written)

    def end(self) -> None:
        """Parts of lines of which the rest never came."""
        for (rank, name), part in sorted(self._parts.items()):
            _write(name, _headed(rank, part) + b"\n")
        self._parts.clear()

    def _tell(self, rank: int, name: str, text: bytes) -> None:
        lines = _LINE.findall(text)
        part = text[sum(map(len, lines)) :]
        if len(part) > _MOST:
            lines.append(part + b"\n")
        elif part:
            self._parts[rank, name] = part
        _write(name, b"".join(_headed(rank, line) for line in lines))


def _headed(rank: int, line: bytes) -> bytes:
    """As torch heads the lines of a traceback, and not twice."""
    head = b"[rank%d]: " % rank
    return line if line.startswith(head) or not line.strip() else head + line


def _write(name: str, text: bytes) -> None:
    stream: BinaryIO = getattr(sys, name).buffer
    stream.write(text)
    stream.flush()
