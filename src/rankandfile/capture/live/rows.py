"""Where all ranks stand: of each the best that there is, its end, its ring, or its stack."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rankandfile.capture.gather import stacks
from rankandfile.capture.live import from_rings, from_stacks
from rankandfile.capture.live.standing import Stands, not_recorded
from rankandfile.capture.watch.rings import NO_RING, Seen


def rows(seen: Sequence[Seen], folder: Path | None = None) -> list[Stands]:
    """One per rank. `folder` has their stacks, as `stacks.take` names them."""
    return sorted((_row(one, folder) for one in seen), key=lambda row: (row.rank, row.pid))


def _row(seen: Seen, folder: Path | None) -> Stands:
    known = not_recorded(seen)
    ring = from_rings.stands(seen) if seen.path != NO_RING else None
    if known is not None:
        # Where it was when it went.
        return replace(known, place=ring.place, calls=ring.calls) if ring is not None else known
    if ring is not None and ring.state == "waits":
        return ring
    stack = (
        from_stacks.stands(seen, folder / f"pyspy_{stack_name(seen)}.json") if folder is not None else None
    )
    if stack is None:
        return ring or Stands(seen.rank, seen.pid, "unknown", stacks.denied(seen.pid))
    return replace(stack, since=ring.since, calls=ring.calls) if ring is not None else stack


def stack_name(seen: Seen) -> str:
    return f"rank_{seen.rank}" if seen.rank >= 0 else f"pid_{seen.pid}"


class Looks:
    """The rows again and again: what stays the same from look to look has lasted at least so long."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._first: dict[int, tuple[object, float]] = {}
        self.note = ""
        """Why there are no stacks, where there are none."""

    def again(self, seen: Sequence[Seen]) -> list[Stands]:
        """Stacks are taken only of ranks that no ring shows waiting: py-spy stops a process for a moment."""
        bare = {
            stack_name(one): one.pid for one in seen if one.lives and not (one.path != NO_RING and one.open)
        }
        for old in self._folder.glob("pyspy_*.json"):
            old.unlink(missing_ok=True)
        said = stacks.take(bare, self._folder) if bare else []
        self.note = said[0] if said else ""
        return [self._lasting(row) for row in rows(seen, self._folder)]

    def _lasting(self, row: Stands) -> Stands:
        now, key = time.monotonic(), (row.state, row.what, row.place)
        same = self._first.get(row.pid)
        if same is None or same[0] != key:
            self._first[row.pid] = key, now
        lasted = now - self._first[row.pid][1]
        if row.since is not None or row.state == "gone" or not lasted:
            return row
        return replace(row, since=lasted, at_least=True)
