"""Lines behind a watchdog's last word by which a rank tells that its own work went on, or is done.

Whoever is held up says nothing any more. One that goes on with a save while the others give up on it is late, and
no more than that: the time-out is shorter than its work.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from rankandfile.evidence.text.bare_line import BareLine
from rankandfile.evidence.text.logs.between_ranks.kept_lines import shape_of
from rankandfile.evidence.text.logs.event import Event, begin
from rankandfile.evidence.text.logs.speakers import speaker

#: Others, or the rank itself by its monitor, tell that a call has taken too long.
GAVE_UP = (
    "watchdog_timeout",
    "watchdog_ended",
    "dump_signal",
    "dump_signal_observed",
    "blocking_wait_timeout",
)
_DONE = re.compile(
    r"(?i)\b(?:saved|written|wrote|flushed|committed|finished|completed?|done|built|loaded|compiled|tokeni[sz]ed|converted|"
    r"uploaded|downloaded|restored|consolidated|took)\b"
)
_OF = re.compile(r"\b(\d+(?:\.\d+)?) ?(?:(?:/| of ) ?(\d+(?:\.\d+)?)\b|%)")
#: What is said of a failure, of the diagnosis of one, or by the launcher that ends what is left.
_NO_WORK = re.compile(
    r"(?i)fail|error|abort|kill|terminat|signal|exit|time[ds]?[ -]?out|watchdog|nccl|gloo|process ?group|flight|"
    r"clean|remov|delet|shut|stop|clos|temporar|tear|requeu|sync(?:ed|ing) logs|"
    r"debug info|\bdump|traceback|warn|\bnot\b|unable|retr|stack|frame #|rendezvous|elastic|heartbeat|^\s*file \""
)
_CLOCK = re.compile(r"(?<![\d:])(\d\d):(\d\d):(\d\d)(?![\d:])")
#: So many lines of one shape count something.
_FEWEST = 2
_DAY_NS = 86_400_000_000_000
#: By clocks of other zones it would be hours.
_MOST_NS = 7_200_000_000_000
_OF_TORCH = ("c10", "torchrun", "nccl", "kernel", "rank")


#: What a rank prints that has itself given up on nothing, when it hears that others have.
_HEARD = frozenset(("dump_signal", "dump_signal_observed"))


def late_work(tail: Sequence[BareLine], lines: int, gave_up: Sequence[Event]) -> list[Event]:
    """The last such line behind all of these events, as an event.

    It must have a clock: what stood in a buffer is printed late, too. Where the log only tells that its rank heard of
    others that gave up, it is the last line before, with its time of day: theirs stands in other files.
    """
    if not gave_up or (since := max((e.time_ns or 0) for e in gave_up)) == 0:
        return []
    after = min(event.line for event in gave_up)
    first = lines - len(tail) + 1
    numbered = list(enumerate(tail, start=first))
    before = [shape_of(b.body.strip()[:400]) for n, b in numbered if n < after]
    late = [
        (n, b) for n, b in numbered if n > after and 0 < ((_clock(b) or since) - since) % _DAY_NS < _MOST_NS
    ]
    found = _last_of_work(late, set(before))
    if found is None and {event.kind for event in gave_up} <= _HEARD:
        counted = {shape for shape in before if before.count(shape) >= _FEWEST}
        found = _last_of_work([(n, b) for n, b in numbered if n < after], counted)
        if found is None or (at := _clock(found[1])) is None:
            return []
        return [_event(*found, "work_before_signal", at % _DAY_NS)]
    return [] if found is None else [_event(*found, "work_late")]


def _last_of_work(
    lines: Sequence[tuple[int, BareLine]], counted: Collection[str]
) -> tuple[int, BareLine, bool] | None:
    """Number and line, and whether what it tells of is done. `counted`: shapes of lines that were written before."""
    found: tuple[int, BareLine, bool] | None = None
    for number, bare in lines:
        text = bare.body.strip()[:400]
        if not text or _NO_WORK.search(text) or set(bare.layers).intersection(_OF_TORCH):
            continue
        match = _OF.search(text)
        most = 0.0 if match is None else float(match[2] or 100)
        whole = match is not None and float(match[1]) >= most > 0
        done = whole or (match is None and _DONE.search(text) is not None)
        if done or (match is not None and shape_of(text) in counted):
            found = number, bare, done or (found is not None and found[2])
    return found


def _event(number: int, bare: BareLine, done: bool, kind: str, of_day_ns: int | None = None) -> Event:
    event = begin(kind, "P9", "fact", bare, number, 0)
    event.text = bare.body.strip()[:400]
    event.fields["done"] = done
    event.fields["speaker"] = bare.rank if bare.rank is not None else speaker(event.text)
    if of_day_ns is not None:
        event.fields["of_day_ns"] = of_day_ns
    return event


def _clock(bare: BareLine) -> int | None:
    match = None if bare.time is not None else _CLOCK.search(bare.body[:120])
    if match is not None:
        return (int(match[1]) * 3600 + int(match[2]) * 60 + int(match[3])) * 1_000_000_000
    return bare.time.ns if bare.time is not None and bare.time.quality != "boot" else None
