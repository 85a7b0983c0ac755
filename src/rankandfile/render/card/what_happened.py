"""What happened: who is to blame and who only waits, where in the code, and the calls at which the ranks diverged."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from rankandfile.model.claims import of_group
from rankandfile.model.diagnosis import Divergence, Location, Wait
from rankandfile.model.ranks import parse_ranks
from rankandfile.render.long_lists import said_group
from rankandfile.render.source import draw, shortened, stands_at
from rankandfile.render.words import (
    alike_culprits,
    came_to,
    flagged_text,
    place_text,
    ranks_named,
    short,
    standing_text,
    waiters,
)

from .sheet import Part, Sheet

#: Left of the code: the cohorts, the number, the mark.
_MARGIN = 16
_MOST_STANDINGS = 6


def parts(sheet: Sheet) -> Iterator[Part]:
    yield from _people(sheet)
    yield from _places(sheet)
    yield from _divergence(sheet)
    if not sheet.verdict.culprits and sheet.verdict.cause != "no_hang":
        yield from _standings(sheet)


def _standings(sheet: Sheet) -> Iterator[Part]:
    """Where everybody is, the odd ones first: what there is to go on with where nobody is to blame for sure."""
    where = sheet.diagnosis.standings
    lines = [
        sheet.cut(f"{sheet.ranks(one.ranks)} {sheet.signs.then} {sheet.spoken(standing_text(one))}", 2)
        for one in where[:_MOST_STANDINGS]
    ]
    if lines:
        yield "stands", [*lines, *sheet.more(len(where) - _MOST_STANDINGS, "place")]


def _people(sheet: Sheet) -> Iterator[Part]:
    verdict = sheet.verdict
    if verdict.culprits:
        yield "culprit", _culprits(sheet)
    elif verdict.suspects:
        yield "suspect", _culprits(sheet)
    # Whoever waits is nobody's victim where nobody is to blame; and the waits say it once.
    if verdict.victims and (verdict.culprits or not verdict.waits):
        many = len(parse_ranks(verdict.victims))
        count = f"  ({many:,} ranks)" if many > 1 else ""
        yield (
            "victims" if verdict.culprits else "waiting",
            [sheet.text(short(verdict.victims, sheet.signs), count)],
        )


def _culprits(sheet: Sheet) -> list[Text]:
    alike = alike_culprits(sheet.verdict)
    lines = []
    for ranks, host, doing in alike[: sheet.room.culprits]:
        said = (f" on {host}" if host else "", f": {doing}" if doing else "")
        lines.append(sheet.text(ranks_named(ranks, sheet.signs), *said, style="bold"))
    return [*lines, *sheet.more(len(alike) - sheet.room.culprits, "kind of culprits", "kinds of culprits")]


def _places(sheet: Sheet) -> Iterator[Part]:
    verdict = sheet.verdict
    if verdict.location is not None:
        yield "where", _location(sheet, verdict.location)
    for excerpt in verdict.excerpts[:1]:
        here = stands_at(excerpt, verdict.location)
        few = shortened(excerpt, sheet.room.excerpt, sheet.width - _MARGIN, sheet.signs, here)
        yield "code", list(draw(few, sheet.signs, here))
    if verdict.location is not None and verdict.location.why_it_can_differ:
        yield "why", [sheet.text(verdict.location.why_it_can_differ)]
    if verdict.location is not None and verdict.location.flagged_before:
        yield "lint", [sheet.text(flagged_text(verdict.location.flagged_before))]


def _location(sheet: Sheet, where: Location) -> list[Text]:
    said = f" in {where.function}" if where.function else ""
    lines = [sheet.text(place_text(where.file, where.line), said)]
    if where.condition and not sheet.verdict.excerpts:
        lines.append(sheet.text(f"line {where.condition_line or where.line}: {where.condition}"))
    return lines


def _divergence(sheet: Sheet) -> Iterator[Part]:
    if sheet.verdict.divergence is not None:
        yield "calls", _diverged(sheet, sheet.verdict.divergence)
    if sheet.verdict.waits and sheet.room.waits:
        yield "waiting", _waits(sheet)


def _diverged(sheet: Sheet, divergence: Divergence) -> list[Text]:
    number = "" if divergence.seq is None else f" #{divergence.seq}"
    lost = not divergence.exact and bool(sheet.diagnosis.job.calls)
    bound = ", here or earlier: older calls are lost" if lost else ""
    place = f", {divergence.place}" if divergence.place else ""
    lines = [sheet.text(f"group {said_group(divergence.group)}{number}{place}{bound}")]
    shown = divergence.cohorts[: sheet.room.cohorts]
    names = [sheet.ranks(cohort.ranks) for cohort in shown]
    widest = max((len(name) for name in names), default=0)
    for name, cohort in zip(names, shown, strict=True):
        lines.append(sheet.text(f"{name:<{widest}} {sheet.signs.then} {came_to(sheet.verdict, cohort)}"))
    return [*lines, *sheet.more(len(divergence.cohorts) - len(shown), "cohort")]


def _waits(sheet: Sheet) -> list[Text]:
    waits = sheet.verdict.waits
    lines = [sheet.cut(_wait(sheet, wait), 2) for wait in waits[: sheet.room.waits]]
    return [*lines, *sheet.more(len(waits) - sheet.room.waits, "wait")]


def _wait(sheet: Sheet, wait: Wait) -> str:
    number = "" if wait.seq is None else f" #{wait.seq}"
    call = sheet.spoken(f"in {wait.op or 'call'}{number}{of_group(wait.group)}")
    waiting = waiters(wait)
    who = sheet.ranks(waiting or wait.ranks)
    if not wait.waits_for:
        return f"{who} {call}"
    if not waiting:
        return f"{who} for earlier calls of their own, {call}"
    perhaps = "perhaps " if wait.unseen else ""
    return f"{who} {perhaps}for {sheet.ranks(wait.waits_for)}, {call}"
