"""The lines around a line, for shapes that are longer than one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from msgspec import Struct, field

from rankandfile.evidence.text.bare_line import BareLine
from rankandfile.evidence.text.prefixes import peel
from rankandfile.evidence.text.scan import Line

#: Lines that a block may have, other writers' lines between them included.
BLOCK = 400


class Context(Struct):
    """Where a line stands."""

    bare: BareLine
    before_match: str
    """What stands in the line before the shape's own words, prefixes peeled."""
    line: Line
    chained: set[object] = field(default_factory=set)
    """Writers whose next traceback only continues the one before."""
    consumed: set[int] = field(default_factory=set)
    """Offsets of lines that a block has read and that are no events of their own."""

    def following(self, limit: int = BLOCK) -> Iterator[tuple[int, BareLine]]:
        """The lines below that the same writer wrote: others' lines between them are passed over."""
        for offset, pieces in islice(self.line.below(), limit):
            for bare in pieces:
                if self._same_writer(bare):
                    yield offset, bare

    def preceding(self, limit: int = 16) -> Iterator[BareLine]:
        """The lines above that the same writer wrote, nearest first."""
        for _, text in islice(self.line.before(), limit):
            if self._same_writer(bare := peel(text)):
                yield bare

    def _same_writer(self, other: BareLine) -> bool:
        """False only if the prefixes contradict: bare lines belong to whoever wrote last."""
        mine = self.bare
        return not (
            _differ(mine.rank, other.rank)
            or _differ(mine.local_rank, other.local_rank)
            or _differ(mine.task, other.task)
            or _differ(mine.pid, other.pid)
            or _differ(mine.host, other.host)
            or _differ(mine.carrier or None, other.carrier or None)
        )


def _differ(mine: object, other: object) -> bool:
    return mine is not None and other is not None and mine != other
