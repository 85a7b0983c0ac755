"""The lines around a line, for shapes that are longer than one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from rankandfile.evidence.text.peeled import Peeled
from rankandfile.evidence.text.pieces import pieces
from rankandfile.evidence.text.prefixes import peel

#: Lines that a block may have, other writers' lines between them included.
BLOCK = 400


@dataclass
class Context:
    """Where a line stands. `after` and `before` give raw lines with their offsets, a bounded number of them."""

    peeled: Peeled
    before_match: str
    """What stands in the line before the shape's own words, prefixes peeled."""
    after_match: str
    after: Callable[[], Iterator[tuple[int, str]]]
    before: Callable[[], Iterator[tuple[int, str]]]
    chained: set[object] = field(default_factory=set)
    """Writers whose next traceback only continues the one before."""
    consumed: set[int] = field(default_factory=set)
    """Offsets of lines that a block has read and that are no events of their own."""

    def following(self, limit: int = BLOCK) -> Iterator[tuple[int, Peeled]]:
        """The lines below that the same writer wrote: others' lines between them are passed over."""
        for count, (offset, line) in enumerate(self.after()):
            if count >= limit:
                return
            # What a carriage return has wiped away is no line of anybody's.
            for piece in pieces(line.rstrip("\r").rpartition("\r")[2]):
                peeled = peel(piece)
                if self._same_writer(peeled):
                    yield offset, peeled

    def preceding(self, limit: int = 16) -> Iterator[Peeled]:
        """The lines above that the same writer wrote, nearest first."""
        for count, (_, line) in enumerate(self.before()):
            if count >= limit:
                return
            peeled = peel(line)
            if self._same_writer(peeled):
                yield peeled

    def _same_writer(self, other: Peeled) -> bool:
        """False only if the prefixes contradict: bare lines belong to whoever wrote last."""
        mine = self.peeled
        return not (
            _differ(mine.rank, other.rank)
            or _differ(mine.local_rank, other.local_rank)
            or _differ(mine.task, other.task)
            or _differ(mine.pid, other.pid)
            or _differ(mine.host, other.host)
        )


def _differ(mine: object, other: object) -> bool:
    return mine is not None and other is not None and mine != other
