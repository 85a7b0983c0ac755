"""Whose words a node reads, of thousands: those of the lowest nodes, one of which speaks for all; a part of the others,
in turn; and all of them where it is the one that speaks.

A name begins with the node's lowest rank, so that who is low is known before anybody's word is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

#: So many of the lowest, and so many of the others each time.
LOWEST, IN_TURN = 64, 192
#: So many names are asked for each time; of more, as many in a second. Most of them are known.
NAMES = 64
_NO_RANKS = 9_999_999


def name_of(ranks: Sequence[int], host: str, told_apart_by: str) -> str:
    return f"{min(min(ranks, default=_NO_RANKS), _NO_RANKS):07}-{host}-{told_apart_by}"


def names_last_s(count: int) -> float:
    """For how long so many names are taken to be all."""
    return 0.0 if count <= NAMES else count / NAMES


@dataclass
class Reader:
    """Of one node."""

    own: str
    _turn: int = 0

    def whom(
        self, names: Sequence[str], silent: Callable[[str], bool], ended: Callable[[str], bool], decides: bool
    ) -> list[str]:
        """`silent`: it has not spoken for long, if ever. `decides`: there is something to decide, for all."""
        others = sorted(name for name in names if name != self.own)
        speaking = [name for name in others if not silent(name)]
        if len(others) <= LOWEST + IN_TURN or (decides and not any(name < self.own for name in speaking)):
            return others
        # Who has ended may speak for all that have, and the lowest that runs for those that run.
        running = [name for name in speaking if not ended(name)]
        lowest = {*speaking[:LOWEST], *running[:LOWEST]}
        rest = [name for name in others if name not in lowest]
        start, self._turn = self._turn % len(rest), (self._turn + IN_TURN) % len(rest)
        in_turn = [*rest, *rest][start : start + min(IN_TURN, len(rest))]
        return sorted({*lowest, *in_turn})
