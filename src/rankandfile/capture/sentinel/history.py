"""What one rank has called in one group, as far back as it is kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from rankandfile.model.digest import MODULUS, Prefix

#: Calls that are kept, and how many more before the oldest are let go.
KEPT, SLACK = 4096, 2048
#: Prefixes are told at multiples of these, two of each: close together near the newest call.
_STEPS = (1, 4, 16, 64, 256, 1024)


class Call(NamedTuple):
    asked: int
    """Number of what it asks for: equal on all members, or it is not the same call. 0 for unknown."""
    path: int
    """Number of where it comes from. 0 for unknown."""
    stack: int
    """Of the path, in the ring."""
    wall_ns: int
    thread: int
    words: str
    captured: bool = False


@dataclass
class History:
    """Calls by their number in the group, without gaps."""

    first: int = 1
    """Number of the oldest call that is kept."""
    base: int = 0
    """Sums count from behind this one."""
    calls: list[Call] = field(default_factory=list)
    sums: list[int] = field(default_factory=list)
    """Over what was asked; of each call that is kept."""
    paths: list[int] = field(default_factory=list)
    """The same, over paths too."""
    done: int = 0
    """The highest number that is over: a group ends its calls in order, as good as."""
    unsure: bool = False
    """What was asked is not known of some call, or it was recorded into a graph: nothing can be compared."""

    @property
    def last(self) -> int:
        return self.first + len(self.calls) - 1

    @property
    def newest_ns(self) -> int:
        return self.calls[-1].wall_ns if self.calls else 0

    def end(self, number: int) -> None:
        self.done = max(self.done, number)

    def add(self, number: int, call: Call) -> None:
        if number != self.last + 1:
            self.first, self.base = number, number - 1
            self.calls, self.sums, self.paths = [], [], []
        before, before_path = (self.sums[-1], self.paths[-1]) if self.sums else (0, 0)
        self.unsure |= not call.asked or call.captured
        self.calls.append(call)
        self.sums.append(rolled(before, number, call.asked))
        self.paths.append(rolled(before_path, number, call.asked ^ call.path))
        if len(self.calls) > KEPT + SLACK:
            del self.calls[:SLACK], self.sums[:SLACK], self.paths[:SLACK]
            self.first += SLACK

    def at(self, number: int) -> Call | None:
        return self.calls[number - self.first] if self.first <= number <= self.last else None

    def from_on(self, number: int) -> list[Call]:
        return self.calls[max(number - self.first, 0) :]

    def prefixes(self, sums: list[int]) -> tuple[Prefix, ...]:
        """The sums at the numbers that watchers tell each other, ascending, without the newest."""
        numbers = {self.last - self.last % step - back * step for step in _STEPS for back in (0, 1)} - {
            self.last
        }
        return tuple(
            Prefix(number, sums[number - self.first]) for number in sorted(numbers) if number >= self.first
        )


def rolled(before: int, number: int, call: int) -> int:
    """The sum after one more call: it depends on which call has which number, and on nothing before `base`."""
    mixed = (call ^ number * 0x9E3779B97F4A7C15) * 0xD6E8FEB86659FD93 & 0xFFFFFFFFFFFFFFFF
    return (before + (mixed ^ mixed >> 29)) % MODULUS


def first_difference(one: History, other: History, after: int) -> int | None:
    """The first number after `after` at which the two asked for something else: halving over the kept sums, which
    differ from there on. None where they agree as far as both have come."""
    low = max(after, one.first - 1, other.first - 1)
    high = min(one.last, other.last)
    if high <= low:
        return None

    def apart(number: int) -> bool:
        return _between(one, low, number) != _between(other, low, number)

    if not apart(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if apart(middle):
            high = middle
        else:
            low = middle
    return high


def _between(history: History, low: int, high: int) -> int:
    """The sum over the calls after `low` up to `high`."""
    if low >= history.first:
        before = history.sums[low - history.first]
    else:  # what the sum of the oldest kept call counts from
        before = history.sums[0] - rolled(0, history.first, history.calls[0].asked)
    return (history.sums[high - history.first] - before) % MODULUS
