"""What a program says of itself right above a stack that it takes: `[rank 0] ---- watchdog dump 1`.

Its stacks come without a prefix, so that this line alone tells whose they are: where nothing stands between, and where
it speaks of stacks. Two such lines, one below the other, are of two programs that took them at once: of neither.
"""

from __future__ import annotations

import re

from msgspec import Struct

from rankandfile.evidence.text.bare_line import BareLine

_RANK = re.compile(r"^\W{0,4}(?:global[ _])?rank[ _:=#]{0,2}(\d{1,6})(?!\w|[.:]\d|/\d*\.)", re.IGNORECASE)
_OF_STACKS = re.compile(
    r"(?i)(?:\b|_)(?:dump\w*|stack(?:s|trace)?|tracebacks?|threads|watchdog|faulthandler|hung|hang\w*|stall\w*|stuck)(?:\b|_)"
)
_LONGEST = 200
#: The first line of a stack as programs print them of themselves.
_BEGINS = re.compile(
    r"^\s*(?:Timeout \(\d|Fatal Python error|(?:Current thread|Thread) 0x|Stack \(most recent|Process \d+: )"
)


class Announced(Struct):
    """The last such line, and whose it was; None where two were."""

    number: int = -9
    carrier: str = ""
    rank: int | None = None

    def hear(self, number: int, bare: BareLine) -> None:
        rank = _said(bare)
        if rank is None:
            return
        beside = self.number == number - 1 and self.carrier == bare.carrier and self.rank != rank
        self.number, self.carrier, self.rank = number, bare.carrier, None if beside else rank

    def above(self, number: int, bare: BareLine) -> int | None:
        """Whose stack begins on this line, where the line above it says so."""
        if self.number != number - 1 or self.carrier != bare.carrier or not _BEGINS.match(bare.indented):
            return None
        return self.rank


def _said(bare: BareLine) -> int | None:
    if len(bare.body) > _LONGEST or not _OF_STACKS.search(bare.body):
        return None
    if bare.rank_from in ("prefix", "app"):
        return None if _BEGINS.match(bare.body) else bare.rank
    match = _RANK.match(bare.body)
    return int(match[1]) if match else None
