"""What to do, what not to do, and what would make the answer surer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType

from rankandfile.model.diagnosis import Alternative

from .sheet import Sheet


def parts(sheet: Sheet) -> Iterator[tuple[str, Sequence[RenderableType]]]:
    verdict, room, text = sheet.verdict, sheet.room, sheet.text
    if verdict.remedies:
        lines = [text(f"{one.title}: {one.text}") for one in verdict.remedies[: room.advice]]
        if any(one.diff for one in verdict.remedies):
            lines.append(text("`raf fix` shows the change as a patch."))
        yield "do", lines
    if verdict.anti_advice:
        yield "do not", [text(_without_do_not(line)) for line in verdict.anti_advice[: room.advice]]
    if verdict.probes and room.probes:
        yield "confirm", [text(f"{one.title}: {one.text}") for one in verdict.probes[: room.probes]]
    if verdict.alternatives and room.alternatives:
        yield "or else", [text(_alternative(one)) for one in verdict.alternatives[: room.alternatives]]
    if verdict.missing_evidence and room.missing:
        shown = verdict.missing_evidence[: room.missing]
        yield "missing", [text(f"{one.what} ({one.how})") for one in shown]


def _without_do_not(line: str) -> str:
    """The label has said it already."""
    rest = line.removeprefix("Do not ")
    return rest[:1].lower() + rest[1:] if rest != line and not rest[:2].isupper() else line


def _alternative(other: Alternative) -> str:
    decided = f" Decided by: {other.decided_by.rstrip('.?')}." if other.decided_by else ""
    return f"{other.cause}: {other.sentence}{decided}"
