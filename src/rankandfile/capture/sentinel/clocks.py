"""Whether the clocks of two nodes are apart: each says its time, and hears the other's a moment later."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from rankandfile.capture.sentinel.telling import id_of
from rankandfile.model.digest import Finding

#: By how much at least, in seconds, in so many words heard. A word is under way for a second or two, and nobody hears
#: one before it is said; on nodes that have much else to do, it may take long.
APART_S, WORDS, UNDER_WAY_S = 5.0, 8, 30.0


@dataclass
class Clocks:
    """Of the other nodes, as this one hears them."""

    _heard: dict[str, deque[float]] = field(default_factory=dict)
    _told: bool = False

    def hear(self, name: str, said: float, now: float) -> None:
        """A new word: when it was said, by the other's clock, and when it was heard, by ours."""
        self._heard.setdefault(name, deque(maxlen=WORDS)).append(now - said)

    def apart(self, hosts: Mapping[str, str], own: str, now: float) -> Finding | None:
        """Once. `hosts`: the other nodes' by name."""
        known = {name: by for name in hosts if (by := self.by(name)) is not None}
        if self._told or not known:
            return None
        self._told = True
        far = max(known, key=lambda name: abs(known[name]))
        by, host = known[far], hosts[far]
        slow, fast = (host, own) if by > 0 else (own, host)
        more = f"; {len(known) - 1} more nodes are apart from {own}" if len(known) > 1 else ""
        words = (
            f"clocks are apart: that of {fast} is {abs(by):.0f} s ahead of that of {slow}, at least; times of their "
            f"logs and records do not compare{more}"
        )
        return Finding(
            id=id_of("clocks", slow, fast),
            kind="storm",
            certainty="certain",
            words=words,
            since=now,
            time=now,
        )

    def by(self, name: str) -> float | None:
        """How far its clock is behind ours at least, negative where it is ahead; None where it is not known to be."""
        heard = self._heard.get(name, ())
        if len(heard) < WORDS:
            return None
        if (least := min(heard) - UNDER_WAY_S) > APART_S:
            return least
        most = max(heard)
        return most if most < -APART_S else None
