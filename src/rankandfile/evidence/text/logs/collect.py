"""What is kept of a file's events: repeats collapsed, floods bounded, the beginning and the end before the middle."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable

from rankandfile.evidence.text.logs.event import Event
from rankandfile.model.log_shapes import WORTH_OF_ROLE

#: Distinct events kept from the beginning and from the end of a file. A failing job of 16k ranks has some 10 each.
FIRST = 20_000
LAST = 20_000

#: Call logs: the last calls per communicator tell where ranks diverged.
_BULK = frozenset(("nccl_call",))
CALLS = 256
STREAMS = 256

#: Distinct lines remembered for telling repeats. Beyond it a repeat may be kept twice.
_REMEMBERED = 60_000

_DIGITS = b"0123456789"
_TELLING = frozenset(
    (
        "code",
        "bus",
        "status",
        "phase",
        "comm",
        "comm_id",
        "hca",
        "key",
        "keys",
        "exception",
        "message",
        "index",
        "counts",
        "place",
        "pod",
        "worker",
        "thread",
        "tasks",
        "worker_pid",
        "worker_pids",
        "device",
    )
)


class Collector:
    def __init__(self) -> None:
        self.seen = 0
        """Events, repeats included."""
        self.dropped = 0
        """Distinct events that are not kept."""
        self._first: list[Event] = []
        self._last: deque[Event] = deque(maxlen=LAST)
        self._known: dict[Hashable, Event] = {}
        self._calls: dict[Hashable, deque[Event]] = {}
        self._numbers: dict[Hashable, int] = {}

    def add(self, event: Event) -> None:
        self.seen += 1
        if event.kind in _BULK:
            self._add_call(event)
            return
        key = _key(event)
        known = self._known.get(key)
        if known is not None:
            known.repeats += 1
            known.fields["last_line"] = event.line
            _keep_longer(known, event)
            if WORTH_OF_ROLE[event.role] < WORTH_OF_ROLE[known.role]:
                known.role = event.role
            if known.rank is None and event.rank is not None:
                known.rank, known.rank_from = event.rank, event.rank_from
            return
        if len(self._known) < _REMEMBERED:
            self._known[key] = event
        if len(self._first) < FIRST:
            self._first.append(event)
            return
        if len(self._last) == LAST:
            self.dropped += 1
        self._last.append(event)

    def _add_call(self, event: Event) -> None:
        stream = (event.writer, event.fields.get("comm"))
        calls = self._calls.get(stream)
        if calls is None:
            if len(self._calls) == STREAMS:
                self.dropped += 1
                return
            calls = self._calls[stream] = deque(maxlen=CALLS)
        if len(calls) == CALLS:
            self.dropped += 1
        if event.seq is None:
            # Whoever does not number its calls makes them in this order.
            self._numbers[stream] = event.seq = self._numbers.get(stream, -1) + 1
        calls.append(event)

    @property
    def flooded(self) -> bool:
        return self.dropped > 4 * LAST

    def events(self) -> list[Event]:
        """In the order of the file."""
        found = [*self._first, *self._last]
        for calls in self._calls.values():
            found += calls
        return sorted(found, key=lambda event: event.offset)


def _keep_longer(known: Event, again: Event) -> None:
    """Logged by whoever caught it and raised again, an exception is printed with the frames above as well."""
    few, more = known.fields.get("frames"), again.fields.get("frames")
    if few and more and len(more) > len(few) and more[: len(few)] == few:
        known.fields["frames"] = more


def _key(event: Event) -> Hashable:
    """Two lines with one key say the same. Where there is a sequence number, wording and timing do not count."""
    about = tuple(event.about or ())
    if event.kind == "watchdog_timeout":
        # Told again, it names the group or does not: the group is no part of what tells two timeouts apart.
        return (
            event.kind,
            event.writer,
            event.seq,
            event.op,
            event.size_in,
            event.size_out,
            event.timeout_ms,
        )
    if event.seq is not None:
        return (event.kind, event.writer, event.pg_id, event.group_name, event.seq, event.op, about)
    peer = event.peer.rstrip("0123456789>").rstrip("<:") if event.peer else None
    telling = tuple([str(value) for name, value in event.fields.items() if name in _TELLING])
    words = event.text[:120].encode("utf-8", "replace").translate(None, _DIGITS)
    return (
        event.kind,
        event.writer,
        event.pg_id,
        event.group_rank,
        event.pid,
        event.host,
        event.exit_code,
        about,
        peer,
        telling,
        words,
    )
