"""What the end of a log says of motion: a counter that still goes up, the last line of each rank that speaks in it, and
who tries the same again and again.

All are facts that accuse nobody. A counter of attempts or of seconds waited goes up as well, and is no work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from rankandfile.evidence.text.bare_line import BareLine
from rankandfile.evidence.text.logs.between_ranks.kept_lines import shape_of
from rankandfile.evidence.text.logs.event import Event, begin
from rankandfile.evidence.text.logs.speakers import speaker
from rankandfile.evidence.text.stamps import Stamp

#: Lines that a counter must be read from, counters kept of a log, and ranks whose last line is.
_FEWEST, _COUNTERS, _SPEAKERS, _LOOKED, _LEADING, _OFTEN = 4, 2, 64, 160, 4, 3
#: Lines at the end of a file behind which nothing else is said.
_TRAILING = 2

_BAR = re.compile(r"[\u2580-\u259f\u2501\u2578-\u257b]+|\|[ #=>.\d-]{3,}\|")
#: How long a bar has run, before how long it may still run.
_RAN = re.compile(r"\[(?:(\d{1,4}):)?(\d{1,2}):(\d\d)<")
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")
_NO_WORK = re.compile(
    r"(?i)\b(?:retr(?:y|ies|ying)|attempt\w*|wait\w*|still|heartbeat\w*|watchdog|poll\w*|sleep\w*|monitor\w*|ping|uptime|"
    r"idle|stuck|timeout|timed out|back.?off|util\w*|temp\w*|pid|signal\w*|clos\w+|kill\w*|terminat\w*"
    r"|no (?:\w+ )?(?:steps?|progress|iterations?|batch\w*)|not (?:progressed|advanced|made))\b"
    r"|#/# (?:Running|Error|Pending|Completed|Terminating|Evicted|Unknown|Init|[A-Z]\w*(?:Killed|BackOff"
    r"|Creating|Error))\b"
)
_AGAIN = re.compile(
    r"(?i)\b(?:retr(?:y|ies|ying)|attempts?|tr(?:y|ies|ying) again|again in|back.?off|sleeping|waiting)\b"
)
#: Whoever waits for other ranks tries again as well.
_FOR_OTHERS = re.compile(
    r"(?i)\b(?:ranks?|peers?|workers?|barrier\w*|rendezvous\w*|store|master\w*|nccl|gloo|all_?(?:reduce|gather)\w*|everyone|others?|"
    r"coordinator|scheduler|group|heartbeat\w*|watchdog|joins?|socket|requests?)\b"
)
_OF_TORCH = frozenset(("c10", "kernel", "syslog", "journal"))


class _Step(NamedTuple):
    line: int
    bare: BareLine
    text: str
    at: Stamp | None = None
    """When it was written: by itself or, of a bar of progress, by the time before the bar and how long that ran."""


class _Bars:
    """The times of bars: they tell how long they have run, and the lines before them when they began."""

    def __init__(self) -> None:
        self._now: Stamp | None = None
        self._begun: Stamp | None = None
        self._ran = 0

    def at(self, bare: BareLine) -> Stamp | None:
        if bare.time is not None:
            self._now = bare.time
            return bare.time
        match = _RAN.search(bare.body) if "<" in bare.body else None
        if match is None:
            return None
        ran = int(match[1] or 0) * 3600 + int(match[2]) * 60 + int(match[3])
        if ran < self._ran or ran == 0:
            self._begun = self._now if ran == 0 else None
        self._ran = ran
        begun = self._begun
        return begun._replace(ns=begun.ns + ran * 1_000_000_000) if begun is not None else None


def last_words(tail: Sequence[BareLine], lines: int) -> list[Event]:
    """Of a file's last lines: `lines` is how many it has."""
    first = lines - len(tail) + 1
    steps: dict[tuple[object, ...], list[_Step]] = {}
    spoke: dict[object, tuple[BareLine, int]] = {}
    times: dict[object, int] = {}
    carried: dict[str, tuple[BareLine, int]] = {}
    bars = _Bars()
    for number, bare in enumerate(tail, start=first):
        text, at = bare.body.strip(), bars.at(bare)
        if not text or bare.nccl or _OF_TORCH.intersection(bare.layers):
            continue
        said = bare.rank if bare.rank is not None else speaker(text)
        # Whether a launcher's task is a rank is known later, and the event keeps its number.
        who = said if said is not None or bare.task is None else f"task {bare.task}"
        if who is not None and not bare.body[:1].isspace():
            times[who] = times.get(who, 0) + 1
            spoke.pop(who, None)
            spoke[who] = bare, number
            carried.pop(bare.carrier, None)
        elif who is None and bare.carrier and not bare.body[:1].isspace():
            # Whose container it is, other lines of it may tell.
            carried.pop(bare.carrier, None)
            carried[bare.carrier] = bare, number
        plain = " ".join((text if text.isascii() and "|" not in text else _BAR.sub("", text)).split())
        key_of_step = (bare.carrier, said, shape_of(plain))
        steps.setdefault(key_of_step, []).append(_Step(number, bare, plain, at))
    moved = [
        event
        for (_, said, shape), found in steps.items()
        if (event := _counted(found, str(shape), said)) is not None
    ]
    ends = {number for _, number in (*spoke.values(), *carried.values())} | {
        lines - trailing for trailing in range(_TRAILING)
    }
    again = [
        event
        for (_, said, shape), found in steps.items()
        if (event := _tried_again(found, str(shape), said)) is not None and event.line in ends
    ]
    moved = sorted(moved, key=lambda event: event.line)[-_COUNTERS:]
    # One that speaks alone, and often, is whose the log is.
    alone = len(spoke) == 1 and max(times.values()) < _OFTEN
    last = [] if alone else list(spoke.items())[-_SPEAKERS:]
    return [
        *moved,
        *again[-_SPEAKERS:],
        *(_last_said(bare, number, who, len(spoke)) for who, (bare, number) in last),
        *(_last_said(bare, number, None, 0) for bare, number in list(carried.values())[-_SPEAKERS:] if last),
    ]


def _last_said(bare: BareLine, number: int, who: object, speakers: int) -> Event:
    event = _event("last_said", bare, number, who)
    if speakers == 1:
        event.fields["alone"] = 1
    return event


def _event(kind: str, bare: BareLine, number: int, said: object) -> Event:
    event = begin(kind, "P9", "fact", bare, number, 0)
    if event.rank is None and isinstance(said, int):
        event.fields["speaker"] = said
    return event


def _counted(found: list[_Step], shape: str, said: object) -> Event | None:
    """Lines of one shape in which one whole number goes up, and none is of waiting."""
    if len(found) < _FEWEST or _NO_WORK.search(shape):
        return None
    columns = list(zip(*(_NUMBER.findall(step.text[:_LOOKED]) for step in found), strict=False))
    counter = next((values for values in columns if _goes_up(values)), None) or _within(columns[:_LEADING])
    if counter is None:
        return None
    last = found[-1]
    event = _event("progress", last.bare, last.line, said)
    event.fields |= {"times": len(found), "from": int(counter[0]), "to": int(counter[-1])}
    if event.time_ns is None and last.at is not None:
        event.time_ns, event.time_quality = last.at.ns, f"near {last.at.quality}"
    gaps = sorted(_gaps(found))
    if gaps:
        event.fields["every_ms"] = gaps[len(gaps) // 2] // 1_000_000
    return event


def _tried_again(found: list[_Step], shape: str, said: object) -> Event | None:
    if len(found) < _OFTEN or not _AGAIN.search(shape) or _FOR_OTHERS.search(shape):
        return None
    last = found[-1]
    event = _event("tries_again", last.bare, last.line, said)
    event.fields["times"] = len(found)
    if last.bare.source:
        event.fields["said_at"] = last.bare.source
    return event


def _goes_up(values: Sequence[str]) -> bool:
    if not all(value.isdecimal() and len(value) < 16 for value in values):
        return False
    numbers = [int(value) for value in values]
    return numbers == sorted(numbers) and len(set(numbers)) * 2 > len(numbers)


def _within(columns: Sequence[Sequence[str]]) -> Sequence[str] | None:
    """Of leading numbers, the one that goes up while the one before it, an epoch, stays: it begins anew with each."""
    for outer, inner in pairwise(columns):
        if all(value.isdecimal() and len(value) < 16 for value in (*outer, *inner)):
            both = [(int(one), int(other)) for one, other in zip(outer, inner, strict=True)]
            if both == sorted(both) and len(set(both)) * 2 > len(both):
                return inner
    return None


def _gaps(found: list[_Step]) -> Iterator[int]:
    times = [step.at for step in found]
    for one, next_one in pairwise(times):
        if one is not None and next_one is not None and one.quality == next_one.quality:
            yield next_one.ns - one.ns
