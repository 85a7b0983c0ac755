"""What the readers of all formats fill: processes and threads, with frames and stacks stored once."""

from __future__ import annotations

import msgspec
from msgspec import Struct, field

from rankandfile.evidence.raw import Frame, RawNote, Repeats
from rankandfile.evidence.text.stacks import bounds, roles
from rankandfile.evidence.text.stacks.raw import NOW, RawProcess, RawStacks, RawThread

_pack = msgspec.msgpack.Encoder().encode


class Draft(Struct):
    """One thread's stack as it is being read."""

    line: int
    frames: list[Frame] = field(default_factory=list)
    """Innermost first."""
    shows: str = NOW
    thread_id: int | None = None
    os_thread: int | None = None
    name: str = ""
    active: bool | None = None
    owns_gil: bool | None = None
    current: bool = False
    """faulthandler's own thread: the one that dumps, or that a signal interrupted."""
    native: bool = False
    cut: bool = False
    code: str = ""
    error: str = ""
    follows: int | None = None
    locals: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    ranks: set[int] = field(default_factory=set)
    """What its variables call the rank."""


class Collector:
    def __init__(self, threads: int = bounds.THREADS) -> None:
        self.processes: list[RawProcess] = []
        self.threads: list[RawThread] = []
        self.formats: dict[str, None] = {}
        self.unanswered: list[int] = []
        self.notes: list[RawNote] = []
        self._most_threads = threads
        self._frames: dict[Frame, int] = {}
        self._stacks: dict[tuple[int, ...], int] = {}
        self._held = 0
        self._views: dict[int, list[tuple[int, roles.View]]] = {}
        self._noted: set[str] = set()

    @property
    def full(self) -> bool:
        return len(self.threads) >= self._most_threads

    def process(self, process: RawProcess) -> int:
        self.processes.append(process)
        return len(self.processes) - 1

    def add(self, process: int, draft: Draft, format: str) -> None:
        if self.full:
            self.note(str(draft.line), f"more than {self._most_threads:,} stacks: the rest is not kept")
            return
        frames = draft.frames
        if len(frames) > bounds.INNER + bounds.OUTER:
            frames = frames[: bounds.INNER] + frames[-bounds.OUTER :]
            draft.cut = True
        self.formats.setdefault(format)
        record = self.processes[process]
        record.ranks = sorted({*record.ranks, *draft.ranks})[: bounds.ASKED]
        self._views.setdefault(process, []).append(
            (len(self.threads), roles.View(draft.name, draft.os_thread, draft.current, tuple(frames)))
        )
        self.threads.append(
            RawThread(
                line=draft.line,
                process=process,
                stack=self._stack(draft.line, frames),
                shows=draft.shows,
                thread_id=draft.thread_id,
                os_thread=draft.os_thread,
                name=bounds.short(draft.name, 128),
                active=draft.active,
                owns_gil=draft.owns_gil,
                native=draft.native,
                cut=draft.cut,
                code=bounds.short(draft.code.strip()),
                error=bounds.short(draft.error),
                follows=draft.follows,
                locals="\n".join(draft.locals)[: bounds.LOCALS],
                asked="\n".join(draft.asked[: bounds.ASKED]),
            )
        )

    def note(self, where: str, what: str) -> None:
        """One line for the person, once per file for each kind of trouble."""
        if what not in self._noted:
            self._noted.add(what)
            self.notes.append(RawNote(f"line {where}" if where else "", what))

    def settle(self, process: int) -> None:
        """All threads of this process have been read: who is who among them?"""
        views = self._views.pop(process, None)
        if views is None:
            return
        record = self.processes[process]
        given = roles.assign([view for _, view in views], record.pid, fatal=bool(record.error))
        for (row, _), role in zip(views, given, strict=True):
            self.threads[row].role = role

    def finish(self) -> RawStacks:
        for process in list(self._views):
            self.settle(process)
        return RawStacks(
            formats=list(self.formats),
            processes=self.processes,
            threads=self.threads,
            repeats=_pack(Repeats([], [], list(self._stacks), list(self._frames))),
            unanswered=sorted(set(self.unanswered)),
            notes=self.notes,
        )

    def _stack(self, line: int, frames: list[Frame]) -> int | None:
        if not frames:
            return None
        if len(self._frames) + len(frames) > bounds.FRAMES or self._held > bounds.STACK_FRAMES:
            self.note(str(line), "more different frames than any program has: the rest is not kept")
            return None
        numbers = tuple([self._frames.setdefault(frame, len(self._frames)) for frame in frames])
        number = self._stacks.setdefault(numbers, len(self._stacks))
        if number == len(self._stacks) - 1:
            self._held += len(numbers)
        return number


def frame(function: str, file: str, line: int | None) -> Frame:
    return Frame(bounds.short(function), bounds.short(file), line or 0)
