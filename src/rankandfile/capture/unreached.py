"""Ranks of which nothing was recorded because of how they were started."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rankandfile.capture.watch.rings import NO_RING
from rankandfile.capture.watch.roster import Roster
from rankandfile.model.ranks import format_ranks


@dataclass
class Unreached:
    roster: Roster
    say: Callable[[str], None]
    _told: bool = False

    def tell(self) -> None:
        """Once."""
        recorded = {one.rank for one in self.roster.seen if one.path != NO_RING}
        missing = {
            rank: why for rank, why in self.roster.unreached.items() if rank >= 0 and rank not in recorded
        }
        if self._told or not missing:
            return
        self._told = True
        for why in sorted(set(missing.values())):
            ranks = [rank for rank in sorted(missing) if missing[rank] == why]
            self.say(f"nothing was recorded of rank{'s' * (len(ranks) > 1)} {format_ranks(ranks)}: {why}")
