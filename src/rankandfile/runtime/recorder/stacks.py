"""Stacks and frames by number: walking a stack is cheap, and describing it happens once per kind of stack."""

from __future__ import annotations

import re
import threading
from pathlib import PurePath
from types import CodeType, FrameType, TracebackType

from rankandfile.runtime.recorder.ring import Ring
from rankandfile.runtime.recorder.tables import digest
from rankandfile.wire import layout

#: Frames kept of a stack, innermost first.
DEPTH = 64

_INNER = re.compile(
    r"[/\\](?:site|dist)-packages[/\\]torch[/\\]|[/\\]torch[/\\](?:distributed|_dynamo|_functorch|_inductor|autograd|nn"
    r"|optim|utils|fx|_ops|_tensor|cuda)\b|^<|[/\\]lib[/\\]python3[.\d]*[/\\](?!(?:site|dist)-packages)"
)
_OWN = str(PurePath(__file__).parent.parent)

#: Stacks that are told apart; a program that makes up code as it goes would fill the memory with them.
MOST = 20_000
NOTHING = (0, 0, 0)

#: The function of kernels.py in which a thread waits for a work object.
WAIT = "wait_and_tell"

#: What one stack is known by: code and instruction of each frame.
Walked = tuple[int, ...]


def walked(frame: FrameType | None) -> Walked:
    """The key of a stack, from this frame outwards."""
    found: list[int] = []
    append = found.append
    while frame is not None:
        append(id(frame.f_code))
        append(frame.f_lasti)
        frame = frame.f_back
    return tuple(found)


class Stacks:
    """Numbers for the stacks and frames of this process."""

    def __init__(self, ring: Ring) -> None:
        self._ring = ring
        self._known: dict[Walked, tuple[int, int, int]] = {}
        self._frames: dict[tuple[CodeType, int], int] = {}
        self.files: list[str] = []
        """Source files seen, in order; the program's own ones."""
        self._seen_files: set[str] = set()
        self._lock = threading.Lock()

    def of(self, frame: FrameType | None) -> tuple[int, int, int]:
        """Numbers of the stack and of its call site, and a hash of the site that is the same on all ranks."""
        key = walked(frame)
        return self._known.get(key) or self._learn(key, frame)

    def of_trace(self, trace: TracebackType) -> tuple[int, int, int]:
        """The same of a traceback: from where it is handled to where it was raised."""
        lines: list[tuple[CodeType, int]] = []
        at: TracebackType | None = trace
        while at is not None:
            lines.append((at.tb_frame.f_code, at.tb_lineno))
            at = at.tb_next
        lines = lines[: -DEPTH - 1 : -1]
        key = (0, *(number for code, line in lines for number in (id(code), line)))
        with self._lock:
            if len(self._known) >= MOST:
                return NOTHING
            return self._known.get(key) or self.learn(len(self._known) + 1, key, lines)

    def _learn(self, key: Walked, frame: FrameType | None) -> tuple[int, int, int]:
        lines: list[tuple[CodeType, int]] = []
        while frame is not None and len(lines) < DEPTH:
            if not frame.f_code.co_filename.startswith(_OWN):
                lines.append((frame.f_code, frame.f_lineno or 0))
            frame = frame.f_back
        with self._lock:
            if len(self._known) >= MOST:
                return NOTHING
            return self._known.get(key) or self.learn(len(self._known) + 1, key, lines)

    def learn(self, number: int, key: Walked, lines: list[tuple[CodeType, int]]) -> tuple[int, int, int]:
        """Describe a stack in the ring's table under `number`, unless the table is full."""
        frames = [self._frame(code, line) for code, line in lines]
        site, told = 0, 0
        for (code, line), frame in zip(lines, frames, strict=True):
            if frame and not inner(code.co_filename):
                site, told = frame, site_hash(code.co_filename, line, code.co_name)
                break
        kept = all(frames) and self._ring.add(layout.STACK, [number, site, *frames])
        # Ids of code objects stay true as long as `_frames` holds the objects.
        found = (number if kept else 0, site, told)
        self._known[key] = found
        return found

    def _frame(self, code: CodeType, line: int) -> int:
        known = self._frames.get((code, line))
        if known is None:
            known = len(self._frames) + 1
            if not self._ring.add(layout.FRAME, [known, code.co_name, code.co_filename, line]):
                return 0
            self._frames[(code, line)] = known
            if code.co_filename not in self._seen_files:
                self._seen_files.add(code.co_filename)
                if not inner(code.co_filename):
                    self.files.append(code.co_filename)
        return known


def inner(file: str) -> bool:
    """Torch's own, the interpreter's, the recorder's: not of the program, nor of a framework that it uses."""
    return _INNER.search(file) is not None or file.startswith(_OWN)


def waits_for_work(frame: FrameType) -> bool:
    """Whether a thread, by its innermost frame, stands in the wait of a work object."""
    return frame.f_code.co_name == WAIT and frame.f_code.co_filename.startswith(_OWN)


def site_hash(file: str, line: int, function: str) -> int:
    return digest(f"{'/'.join(PurePath(file).parts[-2:])}:{line}:{function}")
