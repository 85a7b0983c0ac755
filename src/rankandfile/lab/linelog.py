"""Which line a program came to behind a test, each time: the interpreter's own word, for functions that were asked for.

Runs inside the ranks, before the script. A line of the log is a visit of a test: its file, its line, and the line that
came next in that frame; 0 where the function ended there, -1 where an exception went through it.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

ENDED, RAISED = 0, -1


class Visit(NamedTuple):
    file: str
    line: int
    next: int


def install(path: Path, asked: Sequence[tuple[str, int]]) -> None:
    """`asked`: files of the program, as they end, and lines of tests in them."""
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    wanted: dict[CodeType, dict[int, str]] = {}
    at: dict[FrameType, int] = {}

    def tests_of(code: CodeType) -> dict[int, str]:
        if code not in wanted:
            own = {line for _, _, line in code.co_lines()}
            wanted[code] = {
                line: file for file, line in asked if line in own and code.co_filename.endswith(f"/{file}")
            }
        return wanted[code]

    def within(frame: FrameType, event: str, _: Any) -> Any:
        tests = tests_of(frame.f_code)
        before = at.pop(frame, None)
        if before is not None and (event != "line" or frame.f_lineno != before):
            onwards = {"line": frame.f_lineno, "return": ENDED}.get(event, RAISED)
            os.write(log, f"{tests[before]}\t{before}\t{onwards}\n".encode())
            before = None
        if event == "line" and frame.f_lineno in tests:
            at[frame] = frame.f_lineno
        return within

    def entered(frame: FrameType, _event: str, _: Any) -> Any:
        return within if tests_of(frame.f_code) else None

    threading.settrace(entered)
    sys.settrace(entered)


def read(path: Path) -> Iterator[Visit]:
    """In the order in which they came; the last line of a killed rank may be cut off."""
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else ():
        parts = line.split("\t")
        if len(parts) == 3 and parts[2]:
            yield Visit(parts[0], int(parts[1]), int(parts[2]))
