"""The ways by which a program comes to its calls: each is described once, and known by its frames."""

from __future__ import annotations

import threading
from pathlib import PurePath
from types import CodeType, FrameType
from typing import NamedTuple

from rankandfile.runtime.recorder.stacks import DEPTH, MOST, Walked, inner
from rankandfile.runtime.recorder.tables import digest

#: torch's `Join`: at its end a rank without inputs makes the calls of those that have some, until nobody has.
_SHADOWING = ("algorithms", "join.py"), "__exit__"
#: Frames that a message shows.
_SHOWN = 6


class Way(NamedTuple):
    """The frames of the program that lead to a call."""

    digest: int
    """The same on all ranks for the same lines."""
    site: str
    """The program's own line: `trainer.py:88`."""
    words: str
    frames: tuple[str, ...]
    """Each as `folder/trainer.py:88:train`, the innermost first: the same on all ranks for the same lines."""
    files: tuple[str, ...]
    """The whole names of theirs, on this host."""
    shadows: bool
    """Its calls stand for the others', whatever their lines."""


class Ways:
    """Ways by their frames."""

    def __init__(self) -> None:
        self._known: dict[Walked, Way] = {}
        self._kept: list[CodeType] = []
        self._lock = threading.Lock()

    def __contains__(self, stack: Walked) -> bool:
        return stack in self._known

    def of(self, stack: Walked, frame: FrameType | None) -> Way:
        return self._known.get(stack) or self._learn(stack, frame)

    def _learn(self, stack: Walked, frame: FrameType | None) -> Way:
        lines: list[tuple[str, int, str]] = []
        codes: list[CodeType] = []
        shadows = False
        while frame is not None:
            code = frame.f_code
            codes.append(code)
            shadows |= (PurePath(code.co_filename).parts[-2:], code.co_name) == _SHADOWING
            if len(lines) < DEPTH and not inner(code.co_filename):
                lines.append((code.co_filename, frame.f_lineno or 0, code.co_name))
            frame = frame.f_back
        way = _described(lines, shadows)
        with self._lock:
            if len(self._known) < MOST:
                self._kept += codes  # an id stays true as long as its object lives
                self._known[stack] = way
        return way


def _described(lines: list[tuple[str, int, str]], shadows: bool) -> Way:
    told = [f"{'/'.join(PurePath(file).parts[-2:])}:{line}:{name}" for file, line, name in lines]
    own = [one for one in lines if "site-packages" not in one[0]] or lines
    site = f"{PurePath(own[0][0]).name}:{own[0][1]}" if own else "?"
    shown = [f"{PurePath(file).name}:{line} in {name}" for file, line, name in own[:_SHOWN]]
    files = tuple(file for file, _, _ in lines)
    return Way(
        digest("|".join(told)), site, " < ".join(shown) or "no line of Python", tuple(told), files, shadows
    )
