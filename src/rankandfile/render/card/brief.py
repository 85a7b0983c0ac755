"""The rows of the card: what somebody needs within ten seconds, each fact once. The rest is `-v` and the page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from textwrap import wrap

from rich.console import RenderableType
from rich.text import Text

from rankandfile.model.diagnosis import BY_HAND, Remedy, Verdict
from rankandfile.model.ledger import DISAGREE, NOT_SAID
from rankandfile.render.headline import place
from rankandfile.render.long_lists import foldable, said_group
from rankandfile.render.words import (
    base_name,
    cause_words,
    counted,
    place_text,
    plain,
)

from . import circle, positions, strip
from .sheet import Lines, Part, Sheet

#: A dump that was set aside, as it is of another run.
_RUN = re.compile(r"(?P<which>an earlier|a later) run\b.*\(attempt (?P<number>\d+)\)$")
_MOST_PROOFS, _FEW_PROOFS, _MOST_OF_FIX = 5, 4, 6
_SENTENCE = re.compile(r"(?<=\.) (?=[A-Z`])")


def parts(sheet: Sheet) -> Iterator[Part]:
    verdict, sentences = sheet.verdict, Text()
    if strip.tells(verdict):
        yield "calls", _strip(sheet)
    else:
        sentences = _told(sheet)
        yield "", [sentences]
        if rows := circle.rows(verdict, sheet):
            yield "circle", rows
    # The code that decides is not lost where the sentences are cut before it.
    condition = (verdict.location and verdict.location.condition) or ""
    if condition and not _holds(sentences, condition):
        yield strip.kind_of_line(verdict), [sheet.cut(strip.branch(verdict, sheet.signs), 2)]
    if not verdict.culprits and (verdict.cause == "undetermined" or verdict.confidence == "hypothesis"):
        cut = sentences.plain.endswith(sheet.signs.more)
        yield from positions.parts(sheet, sentences.plain if cut else verdict.sentence)
    yield from _why(sheet, sentences)
    yield from _advice(sheet)
    yield from _rest(sheet)


def _strip(sheet: Sheet) -> list[RenderableType]:
    divergence, world = sheet.verdict.divergence, sheet.diagnosis.job.world_size
    assert divergence is not None
    number = "" if divergence.seq is None else f" #{divergence.seq}"
    lost = not divergence.exact and bool(sheet.diagnosis.job.calls)
    bound = ", here or earlier: older calls are lost" if lost else ""
    place = f", {divergence.place}" if divergence.place and not sheet.room.tight else ""
    shown = list(strip.lines(sheet.verdict, world, sheet.signs))
    few = shown[: sheet.room.cohorts]
    rows = sheet.who_did_what()
    for one in few:
        style = "bold" if one.odd else ""
        who = sheet.text(foldable(f"{one.who}{one.host}", sheet.left), style=style)
        rows.add_row(who, sheet.signs.then, sheet.text(one.did, style=style))
    where = sheet.text(f"group {said_group(divergence.group)}{number}{place}{bound}", style="dim")
    return [where, rows, *sheet.more(len(shown) - len(few), "cohort", where=": -v")]


def _told(sheet: Sheet) -> Text:
    """In whole sentences; a mark shows that there are more."""
    first, *others = _SENTENCE.split(sheet.spoken(told(sheet.verdict)))
    said, whole = _sentences(sheet, first, others, sheet.room.sentence, sheet.margin)
    if not sheet.fits(said, sheet.room.sentence, sheet.margin):
        return sheet.cut(said, sheet.room.sentence, width=sheet.width + sheet.margin)
    return sheet.text(said if whole else _with_mark(said, sheet.signs.more, sheet.width + sheet.margin))


def _with_mark(said: str, more: str, width: int) -> str:
    """It takes the place of the full stop where it would have a line of its own."""
    marked = f"{said} {more}"
    return f"{said.removesuffix('.')}{more}" if wrap(marked, width)[-1] == more else marked


def told(verdict: Verdict) -> str:
    """The sentence, less what stands elsewhere on the card."""
    said = circle.without_its_waits(verdict)
    return said.removeprefix("No hang is proved. ") if verdict.ordinary else said


def _holds(shown: Text, words: str) -> bool:
    """Whether it is in what is shown, however that is broken into lines."""
    return "".join(plain(words).split()) in "".join(shown.plain.split())


def _why(sheet: Sheet, shown: Text) -> Iterator[Part]:
    where = sheet.verdict.location
    why = where and (where.because or where.why_it_can_differ)
    if where and why and not _holds(shown, why):
        # "It" is what the row above shows.
        said = why.removeprefix("it ") if strip.is_test(where.condition or "") else why
        # A few words are said to their end, also in a narrow window; the whole way back is in the details.
        words, lines = why if said == why else f"the condition {said}", sheet.room.why if where.because else 2
        yield "why", [sheet.cut(words, lines)]
    if where and where.flagged_before:
        flagged = where.flagged_before
        at = place_text(base_name(flagged.file), flagged.line)
        # The headline has the place.
        at = "" if place(sheet.verdict).partition(" ")[0] == at else f" at {at}"
        yield "lint", [sheet.text(f"flagged by raf lint{at}: {flagged.rule}")]


def _advice(sheet: Sheet) -> Iterator[Part]:
    verdict = sheet.verdict
    if verdict.cause == "undetermined" or not verdict.culprits:
        yield from _next(sheet)
    elif verdict.family == "paths" and verdict.divergence and verdict.location and not verdict.excerpts:
        yield "next", [sheet.text("the condition that decides: --src DIR, the job's source")]
    if verdict.remedies:
        first = verdict.remedies[0]
        said = _decision(sheet, first) if first.title == BY_HAND else _remedy(sheet, first)
        # Nobody can do half of it: it is cut only where a sentence has no end.
        yield "fix", [sheet.cut(said, _MOST_OF_FIX), *_patch(sheet)]
    if verdict.anti_advice:
        yield (
            "don't",
            [sheet.text(_not_to_do(sheet, line)) for line in verdict.anti_advice[: sheet.room.advice]],
        )


def _next(sheet: Sheet) -> Iterator[Part]:
    """The one thing that would tell."""
    lines = sheet.room.next
    for one in sheet.verdict.missing_evidence[:1]:
        yield "next", [sheet.cut(f"{one.what}: {one.how}", lines)]
        return
    for other in sheet.verdict.alternatives[:1]:
        if other.decided_by and other.cause != "undetermined":
            whom = (
                "to tell which"
                if other.cause == sheet.verdict.cause
                else f"to exclude {cause_words(other.cause)}"
            )
            words = f"{whom}: look at {other.decided_by.rstrip('.')}"
            yield "next", [sheet.cut(words, lines)]
            return
    for probe in sheet.verdict.probes[:1]:
        yield "next", [sheet.cut(f"{probe.title}: {probe.text}", lines)]


def _remedy(sheet: Sheet, remedy: Remedy) -> str:
    """The new line of its patch, where that is one and can be read as a whole; else what is to be done, in as many
    whole sentences as fit."""
    added = [
        line[1:].strip()
        for line in (remedy.diff or "").splitlines()
        if line.startswith("+") and not line.startswith(("+++", "+import ", "+from "))
    ]
    code = [line for line in added if line]
    lines = sheet.room.fix
    if len(code) == 1 and sheet.fits(whole := f"{remedy.title}: {code[0]}", lines + 1):
        return whole
    return _sentences(sheet, f"{remedy.title}.", _SENTENCE.split(remedy.text), lines)[0]


def _decision(sheet: Sheet, remedy: Remedy) -> str:
    """What there is no patch for, a person decides: that is more than a line, and it says where the rest of it is."""
    first, *others = _SENTENCE.split(remedy.text)
    said, whole = _sentences(sheet, f"{remedy.title}: {first}", others, sheet.room.decided)
    return said if whole else f"{said} The rest: -v"


def _sentences(
    sheet: Sheet, said: str, others: Sequence[str], lines: int, margin: int = 0
) -> tuple[str, bool]:
    """With as many of the others as fit, and whether that is all of them."""
    for sentence in others:
        if not sheet.fits(f"{said} {sentence}", lines, margin):
            return said, False
        said += f" {sentence}"
    return said, True


def _patch(sheet: Sheet) -> Iterator[RenderableType]:
    if any(one.diff for one in sheet.verdict.remedies):
        # On a line of its own it says what it is for.
        patch = sheet.typed("the patch", sheet.asked.fix)[-1:]
        probe: Lines = [sheet.text("to confirm it first: add --probe", style="dim")]
        beside = sheet.side_by_side(patch, probe)
        # Beside it, or where there is room enough.
        yield from beside if len(beside) == 1 or sheet.room.advice > 1 else patch


def _without_do_not(line: str) -> str:
    """The label has said it already."""
    rest = line.removeprefix("Do not ")
    return rest[:1].lower() + rest[1:] if rest != line and not rest[:2].isupper() else line


def _not_to_do(sheet: Sheet, line: str) -> str:
    said = _without_do_not(line)
    # Why is told by -v, where it would take a line more.
    return said.partition(": ")[0] if sheet.room.narrow and not sheet.fits(said, 1) else said


def _rest(sheet: Sheet) -> Iterator[Part]:
    diagnosis, verdict = sheet.diagnosis, sheet.verdict
    others = diagnosis.verdicts[1:]
    if others:
        lines = [
            sheet.cut(
                sheet.spoken(f"{'' if other.ordinary else f'{cause_words(other.cause)}: '}{other.sentence}")
            )
            for other in others[: sheet.room.others]
        ]
        yield "also", [*lines, *sheet.more(len(others) - sheet.room.others, "verdict", where=": -v")]
    runs = Counter(found.groups() for note in diagnosis.notes if (found := _RUN.search(note.what)))
    if runs:
        yield (
            "runs",
            [
                sheet.text(
                    f"{counted(files, 'file')} of {which} run {'is' if files == 1 else 'are'} not in this answer: "
                    f"--attempt {number}, or that run's folder alone"
                )
                for (which, number), files in runs.most_common(sheet.room.others)
            ],
        )
    against = [note for note in diagnosis.notes if note.where == DISAGREE]
    if against:
        yield (
            "against",
            [
                sheet.cut(str(against[0]), sheet.room.against),
                *sheet.more(len(against) - 1, "note", where=": -v"),
            ],
        )
    page = _in_few_words(sheet, "the page", sheet.asked.to_page, "add -o page.html")
    if verdict.evidence and sheet.room.more_beside:
        yield (
            "proof",
            sheet.side_by_side([sheet.text(f"{_proofs(verdict, _FEW_PROOFS)}: -v", style="dim")], page),
        )
        return
    if verdict.evidence:
        yield "proof", _in_few_words(sheet, _proofs(verdict, _MOST_PROOFS), sheet.asked.proofs, "-v")
    more = "-v" if sheet.room.tight else _more(sheet)
    yield "more", sheet.side_by_side([sheet.text(more, style="dim")] if more else [], page)


def _proofs(verdict: Verdict, most: int) -> str:
    left = len(verdict.evidence) - most
    return " ".join(verdict.evidence[:most]) + (f" and {left} more" if left > 0 else "")


def _in_few_words(sheet: Sheet, before: str, command: str, instead: str) -> Lines:
    """The command; where lines are scarce and it needs one of its own, `instead`: options to add to what was typed."""
    found = sheet.typed(before, command)
    scarce = (
        sheet.room.tight
        and len(found) > 1
        and sheet.asked.again
        and not (sheet.asked.page and command == sheet.asked.page)
    )
    return [sheet.text(f"{before}: {instead}", style="dim")] if scarce else found


def _other_remedies(others: Sequence[Remedy]) -> Iterator[str]:
    """Those that `raf fix` can make apart from those that are to be made by hand."""
    patches = sum(bool(one.diff) for one in others)
    if patches:
        yield counted(patches, "other patch", "other patches")
    if by_hand := len(others) - patches:
        yield counted(by_hand, "remedy by hand", "remedies by hand")


def _more(sheet: Sheet) -> str:
    """What -v would add."""
    diagnosis, verdict = sheet.diagnosis, sheet.verdict
    notes = sum(note.where not in (DISAGREE, NOT_SAID) for note in diagnosis.notes)
    held = [
        *(["the code"] if verdict.excerpts else []),
        *(["who waits for whom"] if verdict.waits else []),
        *_other_remedies(verdict.remedies[1:]),
        *([counted(notes, "note", "notes") + " on what was read"] if notes else []),
    ]
    return f"-v: {', '.join(held)}" if held else ""
