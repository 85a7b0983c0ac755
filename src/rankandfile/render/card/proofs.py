"""What the answer rests on, what else was found, what speaks against it, and what could not be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from rankandfile.model.ledger import DISAGREE, UNKNOWN_OPERATION, Note
from rankandfile.render.words import cited

from .sheet import Sheet


def parts(sheet: Sheet) -> Iterator[tuple[str, Sequence[RenderableType]]]:
    if sheet.verdict.evidence:
        yield "proof", _proofs(sheet)
    others = sheet.diagnosis.verdicts[1:]
    if others:
        lines = [sheet.text(f"{other.cause}: {other.sentence}") for other in others[: sheet.room.others]]
        yield "also", [*lines, *sheet.more(len(others) - sheet.room.others, "verdict")]
    for label, notes in _notes(sheet):
        first, *rest = notes
        yield label, [sheet.cut(str(first)), *sheet.more(len(rest), "note")]


def _proofs(sheet: Sheet) -> list[Text]:
    facts = cited(sheet.diagnosis, sheet.verdict)
    lines = [
        sheet.cut(f"{item.id}: {item.quote}", sheet.room.quote_lines, "dim")
        for item in facts[: sheet.room.proofs]
    ]
    left_out = len(facts) - sheet.room.proofs
    where = f"; `raf show evidence` has {'it' if left_out == 1 else 'them all'}"
    return [*lines, *sheet.more(left_out, "fact", where=where)]


def _notes(sheet: Sheet) -> Iterator[tuple[str, list[Note]]]:
    notes = sheet.diagnosis.notes
    against = [note for note in notes if note.where == DISAGREE]
    unknown = [note for note in notes if note.where == UNKNOWN_OPERATION]
    others = [note for note in notes if note.where not in (DISAGREE, UNKNOWN_OPERATION)]
    if against:
        yield "against", against
    if unknown:
        yield "unknown", unknown
    if others:
        yield "unread", others
