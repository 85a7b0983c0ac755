"""Where in the rows a jump or a search leads: row numbers in, a row number out."""

from __future__ import annotations

from collections.abc import Sequence

from .subject import CallRow, RankRow

_DONE = ("completed", "ended")


def diverged(calls: Sequence[CallRow]) -> int | None:
    """The call at which the ranks parted."""
    return next((row for row, call in enumerate(calls) if call.diverged), None)


def unfinished(calls: Sequence[CallRow]) -> int | None:
    """The first call that did not end."""
    return next((row for row, call in enumerate(calls) if not ended(call)), None)


def ended(call: CallRow) -> bool:
    return call.state in _DONE


def culprit(ranks: Sequence[RankRow], after: int) -> int | None:
    """The next culprit below that row, or else the first."""
    blamed = [row for row, one in enumerate(ranks) if one.role == "culprit"]
    return next((row for row in blamed if row > after), blamed[0] if blamed else None)


def rank(ranks: Sequence[RankRow], number: int) -> int | None:
    return next((row for row, one in enumerate(ranks) if one.rank == number), None)


def match(calls: Sequence[CallRow], wanted: str, at: int, step: int) -> int | None:
    """The call with these words: here or below (0), the next one (1), the one before (-1), round the end."""
    found = [row for row, call in enumerate(calls) if call.has(wanted)]
    if not found:
        return None
    if step < 0:
        return next((row for row in reversed(found) if row < at), found[-1])
    return next((row for row in found if row >= at + step), found[0])
