"""What a rank did before: which call followed which, so that only what is new or open need be asked about."""

from __future__ import annotations

from enum import Enum

#: Calls before a call that tell what comes next; the longest that was met before decides.
_LENGTHS = (64, 16, 4, 1)
#: Ways to go on that are kept; beyond, every one of them is asked about.
_MOST = 200_000
#: Places in a program's course that are gone through without a look at what came before.
_MOMENTS = 4096


class Novelty(str, Enum):
    EXPECTED = "expected"
    """After these calls nothing else ever came."""
    SETTLED = "settled"
    """The same, after as many calls as are looked back at: it has done so for long."""
    CHOICE = "choice"
    """It came before, and so did something else: a decision was made."""
    NEW = "new"
    """It never came after these calls."""


class _Moment:
    """A rank after certain calls, and what it has done there ever since: the way that costs nothing to go again."""

    __slots__ = ("last", "next_call", "then")

    def __init__(self, last: tuple[int, ...]) -> None:
        self.last = last
        self.next_call: int | None = None
        self.then = self


class Memory:
    """Of one rank, over all of its groups."""

    def __init__(self) -> None:
        self._now = _Moment(())
        self._moments: dict[tuple[int, ...], _Moment] = {}
        self._next: dict[int, frozenset[int]] = {}

    def meet(self, call: int) -> Novelty:
        """How `call` stands to what came before; from now on it is what came before."""
        now = self._now
        if call == now.next_call:
            self._now = now.then
            return Novelty.SETTLED
        found = self._novelty(now.last, call)
        self._now = self._moment((*now.last, call)[-_LENGTHS[0] :])
        if found is Novelty.SETTLED:
            now.next_call, now.then = call, self._now
        else:
            now.next_call = None
            self._learn(now.last, call)
        return found

    def _novelty(self, last: tuple[int, ...], call: int) -> Novelty:
        deepest = True
        for length in _LENGTHS:
            following = self._next.get(hash(last[-length:])) if len(last) >= length else None
            if following is None:
                deepest = False
                continue
            if call not in following:
                return Novelty.NEW
            if len(following) > 1:
                return Novelty.CHOICE
            return Novelty.SETTLED if deepest else Novelty.EXPECTED
        return Novelty.NEW

    def _moment(self, last: tuple[int, ...]) -> _Moment:
        if len(last) < _LENGTHS[0]:
            return _Moment(last)
        if len(self._moments) >= _MOMENTS:
            self._moments = {}  # those in use are found again
        return self._moments.setdefault(last, _Moment(last))

    def _learn(self, last: tuple[int, ...], call: int) -> None:
        for length in _LENGTHS:
            if len(last) >= length and len(self._next) < _MOST:
                key = hash(last[-length:])
                self._next[key] = self._next.get(key, frozenset()) | {call}
