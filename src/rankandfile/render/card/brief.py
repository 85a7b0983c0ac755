"""The card itself: what somebody needs within ten seconds, each fact once. The rest is `-v` and the page."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from rankandfile.model.diagnosis import Alternative, Remedy, Standing
from rankandfile.model.ledger import DISAGREE, NOT_SAID
from rankandfile.render.headline import cause_beside, headline, place, sure
from rankandfile.render.words import cause_words, counted, flagged_text, job_size, said_ranks, standing_text

from . import strip
from .sheet import Part, Sheet

_STYLE = {"established": "bold red", "supported": "bold yellow", "hypothesis": "bold yellow"}
_PLACE = re.compile(r"[\w-]+\.\w+:\d+")
_CALL = re.compile(r"in (?P<op>\w+) #(?P<seq>\d+)")
_MOST_NAMES, _MOST_STANDINGS, _MOST_PROOFS = 3, 6, 5


def head(sheet: Sheet, width: int) -> Iterator[Text]:
    """The answer with its place, how sure it is, and what is taken for true."""
    verdict = sheet.verdict
    style = "bold green" if verdict.hang is False else _STYLE[verdict.confidence]
    said, where = headline(verdict, sheet.diagnosis.job.world_size, sheet.signs), place(verdict)
    gap = width - len(said) - len(where)
    room = " " * gap if gap >= 2 else "  " if where else ""
    yield Text.assemble((sheet.text(said).plain, style), (sheet.text(f"{room}{where}").plain, "bold"))
    yield sheet.text(f"{_sure(sheet)} {sheet.signs.dot} {job_size(sheet.diagnosis)}", style="dim")
    if verdict.assumed:
        yield sheet.text(f"if {verdict.assumed}", style="dim")


def _sure(sheet: Sheet) -> str:
    """``likely (not excluded: uneven inputs) · early exit``: no alternative is left out unseen."""
    verdict = sheet.verdict
    others = list(dict.fromkeys(map(_alternative, verdict.alternatives)))
    more = f" and {len(others) - _MOST_NAMES} more: -v" if len(others) > _MOST_NAMES else ""
    known = verdict.confidence == "established" and verdict.cause != "undetermined"
    open_ = "possible as well" if known else "not excluded"
    excluded = f" ({open_}: {', '.join(others[:_MOST_NAMES])}{more})" if others else ""
    beside = cause_beside(verdict)
    return f" {sheet.signs.dot} ".join([f"{sure(verdict)}{excluded}", *([beside] if beside else [])])


def _alternative(one: Alternative) -> str:
    """In as few words as there are; what has no cause yet, by its sentence."""
    if one.cause != "undetermined" or not one.sentence:
        return cause_words(one.cause)
    return one.sentence[:1].lower() + one.sentence[1:].rstrip(".")


def parts(sheet: Sheet) -> Iterator[Part]:
    verdict = sheet.verdict
    if strip.tells(verdict):
        yield "calls", _strip(sheet)
        if said := strip.branch(verdict):
            yield "branch", [sheet.cut(said, 2)]
    else:
        yield "", [sheet.text(verdict.sentence)]
    if not verdict.culprits and (verdict.cause == "undetermined" or verdict.confidence == "hypothesis"):
        yield from _standings(sheet)
    yield from _why(sheet)
    yield from _advice(sheet)
    yield from _rest(sheet)


def _strip(sheet: Sheet) -> list[RenderableType]:
    divergence, world = sheet.verdict.divergence, sheet.diagnosis.job.world_size
    assert divergence is not None
    number = "" if divergence.seq is None else f" #{divergence.seq}"
    lost = not divergence.exact and bool(sheet.diagnosis.job.calls)
    bound = ", at the latest: earlier calls are lost" if lost else ""
    place = f", {divergence.place}" if divergence.place else ""
    shown = list(strip.lines(sheet.verdict))
    few = shown[: sheet.room.cohorts]
    rows = Table.grid(padding=(0, 1, 0, 0))
    rows.add_column(overflow="fold", max_width=max(10, sheet.width // 3))
    rows.add_column(no_wrap=True)
    rows.add_column(overflow="fold", ratio=1)
    for one in few:
        style = "bold" if one.odd else ""
        who = sheet.text(said_ranks(one.ranks, world, sheet.signs), one.host, style=style)
        rows.add_row(who, sheet.signs.then, sheet.text(one.did, style=style))
    where = sheet.text(f"group {divergence.group}{number}{place}{bound}", style="dim")
    return [where, rows, *sheet.more(len(shown) - len(few), "cohort", where=": -v")]


def _standings(sheet: Sheet) -> Iterator[Part]:
    """Where everybody is, the odd ones first, as far as the sentence does not say it: what there is to go on with where
    nobody is to blame for sure."""
    world = sheet.diagnosis.job.world_size
    where = [one for one in sheet.diagnosis.standings if not _said(one, sheet.verdict.sentence)]
    lines = [
        sheet.cut(f"{_who(one.ranks, world, sheet)} {sheet.signs.then} {standing_text(one)}", 2)
        for one in where[:_MOST_STANDINGS]
    ]
    if lines:
        yield "stands", [*lines, *sheet.more(len(where) - _MOST_STANDINGS, "place", where=": -v")]


def _said(one: Standing, sentence: str) -> bool:
    """Whether the sentence names its place or its call, and its ranks."""
    numbers = set(re.findall(r"\d+", one.ranks))
    if not numbers or not numbers <= set(re.findall(r"(?<![\w.:])\d+(?![\w:])", sentence)):
        return False
    if places := _PLACE.findall(one.what):
        return places[0] in _PLACE.findall(sentence)
    call = _CALL.fullmatch(one.what)
    return bool(call and f"the {call['op']}" in sentence and f"seq {call['seq']})" in sentence)


def _who(ranks: str, world: int | None, sheet: Sheet) -> str:
    return said_ranks(ranks, world, sheet.signs) if ranks[:1].isdigit() else ranks


def _why(sheet: Sheet) -> Iterator[Part]:
    where = sheet.verdict.location
    why = where and (where.because or where.why_it_can_differ)
    if where and why:
        # "It" is what the row above shows.
        said = why.removeprefix("it ") if strip.is_test(where.condition or "") else why
        yield "why", [sheet.cut(why if said == why else f"the condition {said}", 2)]
    if where and where.flagged_before:
        yield "lint", [sheet.cut(flagged_text(where.flagged_before))]


def _advice(sheet: Sheet) -> Iterator[Part]:
    verdict = sheet.verdict
    if verdict.cause == "undetermined" or not verdict.culprits:
        yield from _next(sheet)
    elif verdict.family == "paths" and verdict.divergence and verdict.location and not verdict.excerpts:
        yield "next", [sheet.text("the condition that decides: --src DIR, the job's source")]
    if verdict.remedies:
        yield "fix", [sheet.cut(_remedy(verdict.remedies[0], 2 * sheet.width), 2), *_patch(sheet)]
    if verdict.anti_advice:
        yield (
            "don't",
            [sheet.text(_without_do_not(line)) for line in verdict.anti_advice[: sheet.room.advice]],
        )


def _next(sheet: Sheet) -> Iterator[Part]:
    """The one thing that would tell."""
    for one in sheet.verdict.missing_evidence[:1]:
        yield "next", [sheet.cut(f"{one.what}: {one.how}", 3)]
        return
    for other in sheet.verdict.alternatives[:1]:
        if other.decided_by and other.cause != "undetermined":
            words = f"to exclude {cause_words(other.cause)}: look at {other.decided_by.rstrip('.')}"
            yield "next", [sheet.cut(words, 3)]
            return
    for probe in sheet.verdict.probes[:1]:
        yield "next", [sheet.cut(f"{probe.title}: {probe.text}", 3)]


def _remedy(remedy: Remedy, most: int) -> str:
    """The new line of its patch, where that is one; else what is to be done, in as many whole sentences as fit."""
    added = [
        line[1:].strip()
        for line in (remedy.diff or "").splitlines()
        if line.startswith("+") and not line.startswith(("+++", "+import ", "+from "))
    ]
    code = [line for line in added if line]
    if len(code) == 1:
        return f"{remedy.title}: {code[0]}"
    said = f"{remedy.title}."
    for sentence in re.split(r"(?<=\.) (?=[A-Z])", remedy.text):
        if len(said) + len(sentence) > most - 16:
            break
        said += f" {sentence}"
    return said


def _patch(sheet: Sheet) -> Iterator[Text]:
    if any(one.diff for one in sheet.verdict.remedies):
        yield sheet.text(
            "the patch: raf fix PATH... --src DIR   to confirm it first: add --probe", style="dim"
        )


def _without_do_not(line: str) -> str:
    """The label has said it already."""
    rest = line.removeprefix("Do not ")
    return rest[:1].lower() + rest[1:] if rest != line and not rest[:2].isupper() else line


def _rest(sheet: Sheet) -> Iterator[Part]:
    diagnosis, verdict = sheet.diagnosis, sheet.verdict
    others = diagnosis.verdicts[1:]
    if others:
        lines = [
            sheet.cut(f"{cause_words(other.cause)}: {other.sentence}")
            for other in others[: sheet.room.others]
        ]
        yield "also", [*lines, *sheet.more(len(others) - sheet.room.others, "verdict", where=": -v")]
    against = [note for note in diagnosis.notes if note.where == DISAGREE]
    if against:
        yield "against", [sheet.cut(str(against[0]), 2), *sheet.more(len(against) - 1, "note", where=": -v")]
    if verdict.evidence:
        ids = " ".join(verdict.evidence[:_MOST_PROOFS])
        left = len(verdict.evidence) - _MOST_PROOFS
        more = f" and {left} more" if left > 0 else ""
        yield "proof", [sheet.text(f"{ids}{more}: raf show evidence PATH...", style="dim")]
    yield "more", [sheet.text(f"{_more(sheet)}the page: raf report PATH...", style="dim")]


def _more(sheet: Sheet) -> str:
    """What -v would add."""
    diagnosis, verdict = sheet.diagnosis, sheet.verdict
    notes = sum(note.where not in (DISAGREE, NOT_SAID) for note in diagnosis.notes)
    held = [
        *(["the code"] if verdict.excerpts else []),
        *(["who waits for whom"] if verdict.waits else []),
        *(
            [counted(len(verdict.remedies) - 1, "other remedy", "other remedies")]
            if len(verdict.remedies) > 1
            else []
        ),
        *([counted(notes, "note", "notes") + " on what was read"] if notes else []),
    ]
    return f"-v: {', '.join(held)}   " if held else ""
