"""Where members of one group stop making the same calls.

Two questions, for calls of the same number. Do they *ask* for the same? If not, they are not the same call, whatever
made them: that is certain. Do they *come* from the same place? That they do not proves nothing: a root, a main process
that logs, a stage of a pipeline have lines of their own. But where one member goes on with exactly the calls that the
others make, each of them one number later, it has made a call more (or the others one less), and each of its calls
meets another one than it is meant for: the numbers that come out are wrong, though nothing hangs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from rankandfile.capture.sentinel.history import Call, History, first_difference

#: By how many calls one may be ahead of the other; how many pairs must be apart that the shift explains, of how many
#: different calls; after how many calls without an answer the ranks simply have lines of their own.
MOST_SHIFT, ENOUGH, DIFFERENT, GIVEN_UP = 8, 3, 2, 512
#: What has been seen to be the same on both: so many paths are remembered.
_MOST_KNOWN = 20_000


@dataclass(frozen=True)
class CallDivergence:
    """The first call that is not the same."""

    number: int
    sides: tuple[tuple[tuple[int, ...], Call], ...]
    """Ranks and what they called; who is odd first, else the fewest."""
    shows: int
    """The first number at which they ask for different things; 0 where they only come from different places, and go on
    shifted."""
    odd: tuple[int, ...]
    """Who parted from the rest, or from what it has always done; empty where nothing tells."""


@dataclass
class Pair:
    """One rank beside the one that all are compared with."""

    compared: int = 0
    """Up to this number they have been looked at."""
    apart: int | None = None
    """Since this number they come from different places, and it is not told yet whether they go on shifted."""
    known: set[tuple[int, int]] = field(default_factory=set)
    """Calls that both have made at the same number."""

    def look(self, one: History, other: History) -> int | None:
        """The number of the first call that one of them made and the other did not, by what came after it."""
        while True:
            if self.apart is None and not self._to_difference(one, other):
                return None
            found = self._shifted(one, other)
            if found is not None:
                return self.apart if found else None
            self.apart = None

    def _to_difference(self, one: History, other: History) -> bool:
        start = max(self.compared + 1, one.first, other.first)
        end = min(one.last, other.last)
        for number in range(start, end + 1):
            a, b = one.calls[number - one.first], other.calls[number - other.first]
            self.compared = number
            if (a.asked, a.path) != (b.asked, b.path):
                self.apart = number
                return True
            if len(self.known) < _MOST_KNOWN:
                self.known.add((a.asked, a.path))
        return False

    def _shifted(self, one: History, other: History) -> bool | None:
        """Whether they go on shifted; None for neither: they have lines of their own there."""
        assert self.apart is not None
        a, b = one.from_on(self.apart), other.from_on(self.apart)
        if self.apart < max(one.first, other.first) or min(len(a), len(b)) > GIVEN_UP:
            return None
        open_yet = False
        for ahead, behind in ((a, b), (b, a)):
            for shift in range(1, MOST_SHIFT + 1):
                proved = self._follows(ahead[shift:], behind, ahead)
                if proved:
                    return True
                open_yet |= proved is not None
        return False if open_yet else None

    def _follows(self, later: list[Call], behind: list[Call], ahead: list[Call]) -> bool | None:
        """Whether `behind` makes the calls that the other makes some numbers later; None where it does not."""
        met: set[tuple[int, int]] = set()
        count = 0
        for x, y, direct in zip(later, behind, ahead, strict=False):
            if (x.asked, x.path) != (y.asked, y.path) or not y.path:
                return None
            if direct.path != y.path and (y.asked, y.path) in self.known:
                met.add((y.asked, y.path))
                count += 1
        return count >= ENOUGH and len(met) >= DIFFERENT


def differing(
    histories: Mapping[int, History], agreed: dict[int, int], pairs: dict[int, Pair]
) -> CallDivergence | None:
    """The first call of the group that is not the same on all. `agreed` and `pairs` are kept from look to look: how far
    each rank has been compared already."""
    usable = {rank: one for rank, one in histories.items() if one.calls and not one.unsure}
    if len(usable) < 2:
        return None
    ahead = max(usable, key=lambda rank: (usable[rank].last, -rank))
    found: list[int] = []
    for rank, one in usable.items():
        if rank == ahead:
            continue
        after = min(agreed.get(rank, 0), agreed.get(ahead, 0))
        number = first_difference(one, usable[ahead], after)
        if number is not None:
            found.append(number)
    if found:
        number = _origin(usable, min(found))
        return _divergence(usable, number, min(found))
    for rank, one in usable.items():
        agreed[rank] = one.last
    first = min(usable)
    shifted = [
        number
        for rank, one in usable.items()
        if rank != first and (number := pairs.setdefault(rank, Pair()).look(usable[first], one)) is not None
    ]
    return _divergence(usable, min(shifted), 0) if shifted else None


def _origin(histories: Mapping[int, History], number: int) -> int:
    """What asks differently may only be shifted: then the call too many is further back."""
    there = [one for one in histories.values() if one.first <= number <= one.last]
    earliest = number
    for one in there[1:]:
        for a, b in ((there[0], one), (one, there[0])):
            for shift in range(1, MOST_SHIFT + 1):
                earliest = min(earliest, _begins(a, b, number, shift))
    return earliest


def _begins(ahead: History, behind: History, number: int, shift: int) -> int:
    """From which number on, up to `number`, the one makes the calls of the other so many numbers later. Its last ones
    have no partner yet: they may belong to it where they come from another place."""
    begin, at = number, number - 1
    while True:
        later, call, direct = ahead.at(at + shift), behind.at(at), ahead.at(at)
        if call is None or direct is None:
            return begin
        apart = direct.path != call.path
        if not apart if later is None else (later.asked, later.path) != (call.asked, call.path):
            return begin
        if apart and later is not None:
            begin = at
        at -= 1


def _divergence(histories: Mapping[int, History], number: int, shows: int) -> CallDivergence:
    by_call: dict[tuple[int, int], list[int]] = {}
    for rank, one in sorted(histories.items()):
        call = one.at(number)
        if call is not None:
            by_call.setdefault((call.asked, call.path if shows != number else 0), []).append(rank)
    ranked = sorted(by_call.values(), key=lambda ranks: (len(ranks), ranks))
    sides = tuple((tuple(ranks), _of(histories, ranks[0], number)) for ranks in ranked)
    there = sum(map(len, ranked))
    odd: tuple[int, ...] = ()
    if len(ranked) > 1 and 2 * len(ranked[-1]) > there:
        odd = tuple(sorted(rank for ranks in ranked[:-1] for rank in ranks))
    elif len(ranked) == 2:
        odd = _unlike_before(histories, sides, number)
        sides = tuple(sorted(sides, key=lambda side: side[0] != odd))
    return CallDivergence(number, sides, shows, odd)


def _of(histories: Mapping[int, History], rank: int, number: int) -> Call:
    call = histories[rank].at(number)
    assert call is not None
    return call


def _unlike_before(
    histories: Mapping[int, History], sides: tuple[tuple[tuple[int, ...], Call], ...], number: int
) -> tuple[int, ...]:
    """Of two equally large sides, the one that did not go on as its own past says."""
    usual = []
    for ranks, call in sides:
        expected = _expected(histories[ranks[0]], number)
        usual.append(None if expected is None else expected == (call.asked, call.path))
    if usual == [True, False]:
        return sides[1][0]
    return sides[0][0] if usual == [False, True] else ()


def _expected(history: History, number: int) -> tuple[int, int] | None:
    """What followed, always, on the last two calls before `number` whenever they were made before."""
    told = [(call.asked, call.path) for call in history.calls[: number - history.first]]
    if len(told) < 4:
        return None
    end = told[-2:]
    followed = Counter(told[i + 2] for i in range(len(told) - 2) if told[i : i + 2] == end)
    return next(iter(followed)) if len(followed) == 1 else None
