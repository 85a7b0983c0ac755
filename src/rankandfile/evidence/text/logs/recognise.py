"""From one written line to the events in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from msgspec import Struct, field

from rankandfile.evidence.text.bare_line import BareLine
from rankandfile.evidence.text.logs.context import Context
from rankandfile.evidence.text.logs.event import Event, begin, integer
from rankandfile.evidence.text.logs.shape import Shape, put_word
from rankandfile.evidence.text.logs.shapes import SHAPES, by_needle
from rankandfile.evidence.text.logs.signals import by_words, of_exit
from rankandfile.evidence.text.logs.speakers import speaker
from rankandfile.evidence.text.scan import Line

_GROUP = re.compile(
    r"\[PG ID\s+(?P<id>\d+)\s+PG GUID\s+(?P<name>[^\s(\]]*)(?:\((?P<desc>[^)]*)\))?\s+Rank\s+(?P<rank>\d+)\]"
    r"|\[PG\s+(?P<id4>\d+)\s+(?:\((?P<desc4>[^)]*)\)\s+)?Rank\s+(?P<rank4>\d+)\]"
)
_FIRST_GROUP = re.compile(r"\[Rank (\d{1,7})\]\s")
_REPEATED = re.compile(r"\s*\[repeated (\d{1,9})x across cluster\]")

_ACROSS = "x across cluster]"

#: A digit stays a place in the line: taken away, its neighbours would meet. Bytes are translated faster than text.
_NO_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
_LONG = 1000


class Memory(Struct):
    """What of the lines above matters for those below."""

    chained: set[object] = field(default_factory=set)
    consumed: set[int] = field(default_factory=set)


def recognise(bare: BareLine, line: Line, memory: Memory) -> list[Event]:
    """All events of a line, in the order of the catalogue. Two shapes never share words."""
    body = bare.body
    events: list[Event] = []
    spans: list[tuple[int, int]] = []
    for shape in _candidates(body):
        match = shape.regex.search(body)
        if match is None:
            continue
        start, end = match.span()
        if shape.severe and not _severe(bare, body[:start]):
            continue
        if spans and any(start < b and a < end for a, b in spans):
            continue
        spans.append((start, end))
        event = begin(shape.kind, shape.id, shape.role, bare, line.number, line.offset)
        _group(event, body[: match.start()], bare)
        shape.fill(event, match)
        if event.rank is None and shape.id in _OF_PROGRAMS and (said := speaker(body[:start])) is not None:
            event.rank, event.rank_from = said, "app"
        timeless = event.time_ns is None
        if shape.then is not None or timeless:
            context = Context(bare, body[:start], line, memory.chained, memory.consumed)
            if shape.then is not None:
                shape.then(event, context)
            if event.time_ns is None and event.role == "origin":
                _time_near(event, context)
        _settle(event, body)
        events.append(event)
    return events


#: What tells of no failure by itself.
PLAIN_WORDS = frozenset(
    (
        "said_no_data",
        "said_leaving",
        "said_waiting",
        "rank_on_host",
        "pod_listed",
        "nccl_address",
        "nccl_connected",
    )
)

#: What a program says in its own words, behind a rank that it may name there.
_OF_PROGRAMS = frozenset(("P1", "P2"))
_WARNS = re.compile(r"\b(?:WARN|WARNING|ERROR|EXCEPTION|CRITICAL|FATAL)\b|Warning:")
_NEARBY = 200


def _severe(bare: BareLine, before: str) -> bool:
    """The line says to be a warning or worse: a prefix does, or its own words before what is told."""
    return (bare.severity or "I") in "WECF" or _WARNS.search(before[-_NEARBY:]) is not None


@cache
def _by_word() -> dict[str, tuple[tuple[str, tuple[int, ...]], ...]]:
    """Literals, with their shapes' places in the catalogue, by the four letters that may be met of them."""
    place = {id(shape): number for number, shape in enumerate(SHAPES)}
    found: dict[str, list[tuple[str, tuple[int, ...]]]] = {}
    for literal, shapes in by_needle():
        for start in range(4):
            found.setdefault(literal[start : start + 4], []).append(
                (literal, tuple(place[id(shape)] for shape in shapes))
            )
    return {word: tuple(literals) for word, literals in found.items()}


def _candidates(body: str) -> Sequence[Shape]:
    """Shapes one of whose literals stands in the text, in their order.

    Lines of a log differ in their numbers, and no literal has a digit: what one line may be, all like it may be.
    """
    return (
        _announced(body)
        if len(body) > _LONG
        else _alike(body.encode("utf-8", "replace").translate(_NO_DIGITS))
    )


def may_be_cut(body: str) -> bool:
    """Whether a line with a literal and without its shape may be part of one that was cut: of programs' plain words it
    is none."""
    found = _candidates(body)
    return not found or any(shape.kind not in PLAIN_WORDS for shape in found)


@lru_cache(maxsize=4096)
def _alike(words: bytes) -> Sequence[Shape]:
    return _announced(words.decode("utf-8", "replace"))


def _announced(text: str) -> Sequence[Shape]:
    """Every fourth place is enough to look at."""
    words = _by_word()
    numbers: set[int] = set()
    for start in range(0, len(text) - 3, 4):
        for literal, places in words.get(text[start : start + 4], ()):
            if literal in text:
                numbers.update(places)
    return [SHAPES[number] for number in sorted(numbers)]


def _group(event: Event, before: str, bare: BareLine) -> None:
    """The group that the line names before its own words."""
    groups = list(_GROUP.finditer(before)) if "[PG" in before else ()
    if groups:
        found = groups[-1]
        event.pg_id = integer(found["id"] or found["id4"], narrow=True)
        event.group_rank = integer(found["rank"] or found["rank4"], narrow=True)
        for column, value in (("group_name", found["name"]), ("group_desc", found["desc"] or found["desc4"])):
            if value:
                put_word(event, column, value)
        if event.rank is None and event.group_desc == "default_pg" and event.group_rank is not None:
            event.rank, event.rank_from = event.group_rank, "default_group"
    if event.rank is None and not bare.nccl and "[Rank " in before and (first := _FIRST_GROUP.search(before)):
        # The rank in the first group that logged in this process: nearly always the default group.
        event.rank, event.rank_from = int(first[1]), "first_group"


#: Lines above and below in which a time is looked for.
_NEAR = 8


def _time_near(event: Event, context: Context) -> None:
    """Tracebacks have no time of their own; the same writer's lines around them do."""
    for bare in [*context.preceding(_NEAR), *(below for _, below in context.following(_NEAR))]:
        if bare.time is not None:
            event.time_ns, event.time_quality = bare.time.ns, f"near {bare.time.quality}"
            return


def _settle(event: Event, body: str) -> None:
    if _ACROSS in body and (match := _REPEATED.search(body)):
        # Ray has taken out the lines of other ranks.
        event.fields["left_out"] = int(match[1])
    if event.signal is not None:
        event.signal = by_words(event.signal) or event.signal
    elif event.exit_code is not None:
        event.signal = of_exit(event.exit_code)
