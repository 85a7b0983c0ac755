"""What to do, what not to do, what would make the answer surer, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from rankandfile.model.diagnosis import Alternative, Probe, Remedy
from rankandfile.model.ledger import DISAGREE, NOT_SAID, UNKNOWN_OPERATION, Note
from rankandfile.render.words import cited

from .sheet import Part, Sheet


def parts(sheet: Sheet) -> Iterator[Part]:
    yield from _advice(sheet)
    yield from _proofs(sheet)


def _advice(sheet: Sheet) -> Iterator[Part]:
    verdict, room, text = sheet.verdict, sheet.room, sheet.text
    if verdict.remedies:
        lines = [text(_titled(one)) for one in verdict.remedies[: room.advice]]
        if any(one.diff for one in verdict.remedies):
            lines.append(text("`raf fix` shows the change as a patch."))
        yield "do", lines
    if verdict.anti_advice:
        yield "do not", [text(_without_do_not(line)) for line in verdict.anti_advice[: room.advice]]
    if verdict.probes and room.probes:
        yield "confirm", [text(_titled(one)) for one in verdict.probes[: room.probes]]
    if verdict.alternatives and room.alternatives:
        yield (
            "or else",
            [text(sheet.spoken(_alternative(one))) for one in verdict.alternatives[: room.alternatives]],
        )
    if verdict.missing_evidence and room.missing:
        shown = verdict.missing_evidence[: room.missing]
        yield "missing", [text(f"{one.what} ({one.how})") for one in shown]


def _titled(one: Remedy | Probe) -> str:
    return f"{one.title}{'' if one.title.endswith('?') else ':'} {one.text}"


def _without_do_not(line: str) -> str:
    """The label has said it already."""
    rest = line.removeprefix("Do not ")
    return rest[:1].lower() + rest[1:] if rest != line and not rest[:2].isupper() else line


def _alternative(other: Alternative) -> str:
    decided = f" Decided by: {other.decided_by.rstrip('.?')}." if other.decided_by else ""
    return f"{other.cause}: {other.sentence}{decided}"


def _proofs(sheet: Sheet) -> Iterator[Part]:
    if sheet.verdict.evidence:
        yield "proof", _facts(sheet)
    others = sheet.diagnosis.verdicts[1:]
    if others:
        lines = [
            sheet.text(sheet.spoken(f"{other.cause}: {other.sentence}"))
            for other in others[: sheet.room.others]
        ]
        yield "also", [*lines, *sheet.more(len(others) - sheet.room.others, "verdict")]
    for label, notes in _notes(sheet):
        first, *rest = notes
        yield label, [sheet.cut(str(first)), *sheet.more(len(rest), "note")]


def _facts(sheet: Sheet) -> list[Text]:
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
    others = [note for note in notes if note.where not in (DISAGREE, NOT_SAID, UNKNOWN_OPERATION)]
    if against:
        yield "against", against
    if unknown:
        yield "unknown", unknown
    if others:
        yield "unread", others
