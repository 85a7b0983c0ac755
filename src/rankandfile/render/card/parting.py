"""The calls at which the ranks parted, a line for each cohort, and who waits for whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from rankandfile.model.diagnosis import Divergence, Wait
from rankandfile.render.words import came_to, waiters

from .sheet import Sheet


def parts(sheet: Sheet) -> Iterator[tuple[str, Sequence[RenderableType]]]:
    if sheet.verdict.divergence is not None:
        yield "parted", _parted(sheet, sheet.verdict.divergence)
    if sheet.verdict.waits and sheet.room.waits:
        yield "waiting", _waits(sheet)


def _parted(sheet: Sheet, parted: Divergence) -> list[Text]:
    number = "" if parted.seq is None else f" #{parted.seq}"
    bound = "" if parted.exact else ", at the latest: earlier calls are lost"
    place = f", in {parted.place}" if parted.place else ""
    lines = [sheet.text(f"group {parted.group}{number}{place}{bound}")]
    shown = parted.cohorts[: sheet.room.cohorts]
    names = [sheet.ranks(cohort.ranks) for cohort in shown]
    widest = max((len(name) for name in names), default=0)
    for name, cohort in zip(names, shown, strict=True):
        lines.append(sheet.text(f"{name:<{widest}} {sheet.signs.then} {came_to(sheet.verdict, cohort)}"))
    return [*lines, *sheet.more(len(parted.cohorts) - len(shown), "cohort")]


def _waits(sheet: Sheet) -> list[Text]:
    waits = sheet.verdict.waits
    lines = [sheet.cut(_wait(sheet, wait), 2) for wait in waits[: sheet.room.waits]]
    return [*lines, *sheet.more(len(waits) - sheet.room.waits, "wait")]


def _wait(sheet: Sheet, wait: Wait) -> str:
    number = "" if wait.seq is None else f" #{wait.seq}"
    call = f"in {wait.op or 'call'}{number} of {wait.group}"
    waiting = waiters(wait)
    who = sheet.ranks(waiting or wait.ranks)
    if not wait.waits_for:
        return f"{who} {call}"
    if not waiting:
        return f"{who} behind earlier calls of their own, {call}"
    return f"{who} for {sheet.ranks(wait.waits_for)}, {call}"
