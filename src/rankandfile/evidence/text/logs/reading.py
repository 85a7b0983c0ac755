"""The lines of one log into events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from rankandfile.evidence.raw import RawNote
from rankandfile.evidence.text.bare_line import BareLine
from rankandfile.evidence.text.logs.attribute import attribute
from rankandfile.evidence.text.logs.between_ranks.kept_lines import said_in
from rankandfile.evidence.text.logs.collect import Collector
from rankandfile.evidence.text.logs.event import Event, clean
from rankandfile.evidence.text.logs.last_words import last_words
from rankandfile.evidence.text.logs.late_work import GAVE_UP, late_work
from rankandfile.evidence.text.logs.progress import progress_in
from rankandfile.evidence.text.logs.raw import LogRow, RawLog, columns_of, packed_columns
from rankandfile.evidence.text.logs.recognise import PLAIN_WORDS, Memory, may_be_cut, recognise
from rankandfile.evidence.text.logs.unread import unread_in
from rankandfile.evidence.text.logs.versions import torch_of
from rankandfile.evidence.text.logs.wrapping import unwrapped, whole
from rankandfile.evidence.text.prefixes import peel
from rankandfile.evidence.text.scan import LINE, Line, Scan
from rankandfile.evidence.text.stacks.in_logs import words
from rankandfile.evidence.text.told_processes import Listener
from rankandfile.evidence.text.written_lines import pieces
from rankandfile.model.log_shapes import WARNINGS
from rankandfile.model.ranks import MOST_RANKS

#: How much of a file's beginning and end is read for its times and its last words.
_EDGE = 64 << 10

#: Of a file with far more events than are kept, only the end is looked at from then on.
_TAIL = 256 << 20

#: Shapes whose lines always begin with torch's own prefix.
_WITH_HEAD = frozenset(("W1", "W2", "W4", "W9", "H1", "H3"))

_OF_SETTINGS = "Warning: Environment variable "

#: Lines that say how much of something was expected, and not of ranks.
_OF_BYTES = frozenset(("gloo_size_disagrees",))

#: Lines with a literal but without its shape that are tried as wrapped ones, before this is taken for chatter.
_TRIES = 2000


class Events:
    """Takes the lines of one log that may say something, and gives its events and what is told of the whole file."""

    def __init__(self, scan: Scan, size: int) -> None:
        self.scan = scan
        self.listener = Listener()
        self.layers: Counter[str] = Counter()
        self.notes: list[RawNote] = []
        self._size = size
        self._memory = Memory()
        self._collector = Collector()
        self._tries = _TRIES
        self._skipped = False

    def take(self, line: Line) -> None:
        if line.offset in self._memory.consumed:
            return
        for event in self._line(line):
            self._collector.add(event)
        if self._collector.flooded and not self._skipped:
            self._skip(line)

    def log(self, file: BinaryIO) -> RawLog:
        """All of it, once every line has been taken."""
        size = self._size
        self._say()
        events = self._collector.events()
        attribute(events)
        head, tail = _edges(file, size)
        row = LogRow(bytes=size, lines=self.scan.lines)
        _times(row, head, tail)
        self.layers.update(layer for bare in head for layer in dict.fromkeys(bare.layers))
        row.prefixes = [name for name, _ in self.layers.most_common(12)]
        hosts = {bare.host for bare in head if bare.host}
        row.host = hosts.pop() if len(hosts) == 1 and all(p.host for p in head) else None
        row.last_line = _last_words_of(tail)
        heard = {id(bare) for bare in head}
        self.listener.hear([*head, *(bare for bare in tail if id(bare) not in heard)])
        told = self.listener.told()
        row.world_size = _world(events) or told.world_size
        row.torch = torch_of(event.text for event in events)
        row.truncated = size > 0 and not _ends_line(file, size)
        row.partial = bool(self.notes)
        # Where something was understood, that is what is shown.
        understood = any(event.kind not in PLAIN_WORDS for event in events)
        unread = [] if understood else unread_in(tail, self.scan.lines)
        warned = [_last_line(event) for event in events if event.kind in WARNINGS]
        doubtful = min(warned, default=max((event.line for event in unread), default=0))
        work = progress_in(tail, self.scan.lines, doubtful) if doubtful else []
        late = late_work(tail, self.scan.lines, [event for event in events if event.kind in GAVE_UP])
        said = said_in(head, tail, self.scan.lines, size <= _EDGE)
        moved = last_words(tail, self.scan.lines)
        columns = columns_of([*events, *unread, *work, *late, *moved])
        return RawLog(row, packed_columns(columns), self.notes, said, told)

    def _line(self, line: Line) -> list[Event]:
        found: list[Event] = []
        bodies: list[str] = []
        for piece in pieces(line.text):
            bare = peel(piece)
            if "cri" in bare.layers:
                bare = whole(line, bare, self._memory.consumed)
            for layer in dict.fromkeys(bare.layers):
                self.layers[layer] += 1
            found += self._recognise(line, bare)
            # A collector's JSON is never wrapped.
            if not (piece.startswith("{") and piece.endswith("}")):
                bodies.append(bare.body)
        if (
            (not found or self._headless(line, found))
            and self._tries > 0
            and any(may_be_cut(body) for body in bodies)
        ):
            found = self._wrapped(line, {event.kind for event in found}) or found
        return found

    def _headless(self, line: Line, found: list[Event]) -> bool:
        """A line of torch's that lacks what torch puts before it is the rest of a wrapped one."""
        return (
            found[0].shape in _WITH_HEAD
            and (text := line.text)[:1] not in ("[", " ", "\t", "")
            and not peel(text).layers
        )

    def _recognise(self, line: Line, bare: BareLine) -> list[Event]:
        return recognise(bare, line, self._memory)

    def _wrapped(self, line: Line, kinds: set[str]) -> list[Event]:
        """The events of a line put together from its neighbours, if they are at least of those kinds."""
        self._tries -= 1
        for bare, offsets in unwrapped(line):
            if kinds and not bare.layers:
                continue
            found = self._recognise(line, bare)
            if found and kinds <= {event.kind for event in found}:
                self._tries += 1
                self._memory.consumed.update(offsets)
                for event in found:
                    event.fields["wrapped"] = True
                    event.line -= offsets.index(line.offset)
                    event.offset = offsets[0]
                return found
        return []

    def _skip(self, line: Line) -> None:
        self._skipped = True
        target = self._size - _TAIL
        if target > line.offset:
            self.scan.only(words, target)
            what = f"too many events; of the rest only the last {_TAIL >> 20} MiB were looked at"
            self.notes.append(RawNote(f"line {line.number}", what))

    def _say(self) -> None:
        if self._collector.dropped:
            what = f"{self._collector.dropped:,} events from the middle of the file are left out"
            self.notes.append(RawNote("", what))
        if self.scan.empty_from is not None:
            self.notes.append(
                RawNote(f"byte {self.scan.empty_from}", "nothing but zeros from here on; not read")
            )


def _edges(file: BinaryIO, size: int) -> tuple[list[BareLine], list[BareLine]]:
    file.seek(0)
    lines = list(_lines(file.read(_EDGE)))
    if size > _EDGE:
        file.seek(size - _EDGE)
        return lines[:200], list(_lines(file.read(_EDGE)))[-200:]
    return lines[:200], lines[-200:]


def _lines(data: bytes) -> Iterator[BareLine]:
    for line in data.removesuffix(b"\n").split(b"\n"):
        for piece in pieces(line[:LINE].decode("utf-8", "replace"))[-1:]:
            yield peel(piece)


def _times(row: LogRow, head: list[BareLine], tail: list[BareLine]) -> None:
    """First and last time, both of the kind that the file's end has: only like compares with like."""
    begun = next((p.time for p in head if p.time is not None), None)
    row.begun = None if begun is None else (begun.ns, begun.quality)
    last = next((p.time for p in reversed(tail) if p.time is not None), None)
    if last is None:
        return
    first = next((p.time for p in head if p.time is not None and p.time.quality == last.quality), None)
    row.last_ns, row.time_quality = last.ns, last.quality
    row.first_ns = first.ns if first is not None else None


def _world(events: list[Event]) -> int | None:
    told = [
        event.fields[name]
        for event in events
        for name in ("nranks", "expected")
        if name in event.fields and event.kind not in _OF_BYTES
    ]
    return max((value for value in told if isinstance(value, int) and 0 < value <= MOST_RANKS), default=None)


def _last_words_of(tail: Sequence[BareLine]) -> str:
    """The last line that says something: where there is another, not a warning of torch's about its own settings."""
    told = [bare for bare in tail if any(letter.isalnum() for letter in bare.body)]
    own = (bare for bare in reversed(told) if not bare.body.startswith(_OF_SETTINGS))
    last = next(own, told[-1] if told else None)
    return clean(last.body, 300) if last is not None else ""


def _last_line(event: Event) -> int:
    """Where an event that is told again and again was told last."""
    again = event.fields.get("last_line")
    return again if isinstance(again, int) else event.line


def _ends_line(file: BinaryIO, size: int) -> bool:
    file.seek(size - 1)
    return file.read(1) in (b"\n", b"\r", b"\0")
