"""One event on its way from a line to the table: what `rankandfile.model.events.EVENTS` has a column for."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from rankandfile.evidence.text.bare_line import BareLine

#: Characters of a line that are kept. W1 with all its prefixes has some 400.
TEXT = 600

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]")

_INT64 = 1 << 63
_INT32 = 1 << 31


class Event(msgspec.Struct, kw_only=True):
    line: int
    offset: int
    kind: str
    shape: str
    role: str
    repeats: int = 1
    time_ns: int | None = None
    time_quality: str | None = None
    rank: int | None = None
    rank_from: str | None = None
    local_rank: int | None = None
    host: str | None = None
    pid: int | None = None
    pg_id: int | None = None
    group_name: str | None = None
    group_desc: str | None = None
    group_rank: int | None = None
    seq: int | None = None
    op: str | None = None
    enqueued: int | None = None
    completed: int | None = None
    size_in: int | None = None
    size_out: int | None = None
    timeout_ms: int | None = None
    waited_ms: int | None = None
    exit_code: int | None = None
    signal: str | None = None
    peer: str | None = None
    about: list[int] | None = None
    about_in: str | None = None
    fields: dict[str, Any] = {}
    text: str = ""

    @property
    def writer(self) -> tuple[Any, ...]:
        """Tells processes of one file apart, as far as the line does."""
        if self.rank is not None:
            return (self.rank,)
        return (self.host, self.pid, self.local_rank, self.fields.get("task"), self.fields.get("pod"))


#: Columns by the width of their integers: a number that does not fit is damage, not a fact.
WIDE = frozenset(("pid", "seq", "enqueued", "completed", "size_in", "size_out", "timeout_ms", "waited_ms"))
NARROW = frozenset(("rank", "local_rank", "pg_id", "group_rank", "exit_code"))
WORDS = frozenset(("host", "group_name", "group_desc", "op", "signal", "peer"))


def integer(text: str, *, narrow: bool = False) -> int | None:
    """A decimal number that fits its column; None for anything else."""
    if len(text) > 20:
        return None
    try:
        value = int(text)
    except ValueError:
        return None
    bound = _INT32 if narrow else _INT64
    return value if -bound <= value < bound else None


def clean(text: str, limit: int = TEXT) -> str:
    """Bounded, and harmless on a terminal and in a report."""
    if len(text) > limit:
        text = text[: limit + 1]
    if not text.isprintable():
        text = _CONTROL.sub(" ", text)
    text = text.strip()
    return text if len(text) <= limit else text[: limit - 1] + "…"


#: Layers of carriers that write beside each other into one file what containers wrote.
_OF_PODS = frozenset(("docker", "stern", "kubectl", "compose"))


def begin(kind: str, shape: str, role: str, bare: BareLine, line: int, offset: int) -> Event:
    """An event with all that the line's prefixes say."""
    time = bare.time
    event = Event(
        line=line,
        offset=offset,
        kind=kind,
        shape=shape,
        role=role,
        time_ns=None if time is None else time.ns,
        time_quality=None if time is None else time.quality,
        rank=bare.rank,
        rank_from=bare.rank_from,
        local_rank=bare.local_rank,
        host=bare.host,
        pid=bare.pid,
        text=clean(bare.body),
    )
    if bare.task is not None:
        event.fields["task"] = bare.task
    if bare.device is not None:
        event.fields["device"] = bare.device
    if bare.carrier and not _OF_PODS.isdisjoint(bare.layers):
        event.fields["pod"] = clean(bare.carrier.strip(":"), 200)
    if bare.carrier and "server" in bare.layers:
        event.fields["place"] = clean(bare.carrier.rstrip(":").rpartition(":")[2].strip(), 80)
    return event
