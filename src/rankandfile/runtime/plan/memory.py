"""What a rank did before: which call followed which, so that only what is new or open need be asked about."""

from __future__ import annotations

from collections import deque
from enum import Enum

#: Calls before a call that tell what comes next; the longest that was met before decides.
_LENGTHS = (64, 16, 4, 1)
#: Ways to go on that are kept; beyond, every one of them is asked about.
_MOST = 200_000


class Novelty(str, Enum):
    EXPECTED = "expected"
    """After these calls nothing else ever came."""
    SETTLED = "settled"
    """The same, after as many calls as are looked back at: it has done so for long."""
    CHOICE = "choice"
    """It came before, and so did something else: a decision was made."""
    NEW = "new"
    """It never came after these calls."""


class Memory:
    """Of one rank, over all of its groups."""

    def __init__(self) -> None:
        self._last: deque[int] = deque(maxlen=_LENGTHS[0])
        self._next: dict[int, frozenset[int]] = {}

    def meet(self, call: int) -> Novelty:
        """How `call` stands to what came before; from now on it is what came before."""
        last = tuple(self._last)
        self._last.append(call)
        found, deepest = Novelty.NEW, True
        for length in _LENGTHS:
            if len(last) < length:
                deepest = False
                continue
            following = self._next.get(hash(last[-length:]))
            if following is None:
                deepest = False
                continue
            if call in following:
                settled = Novelty.SETTLED if deepest and length == _LENGTHS[0] else Novelty.EXPECTED
                found = settled if len(following) == 1 else Novelty.CHOICE
            break
        if found is not Novelty.SETTLED:
            self._learn(last, call)
        return found

    def _learn(self, last: tuple[int, ...], call: int) -> None:
        for length in _LENGTHS:
            if len(last) >= length and len(self._next) < _MOST:
                key = hash(last[-length:])
                self._next[key] = self._next.get(key, frozenset()) | {call}
