"""The verdict on one screen: what, who, where, why, what to do and what not to do.

It holds as text alone: colour and symbols only repeat what the words say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rankandfile.model.diagnosis import Cohort, Culprit, Diagnosis, Verdict

from .words import UNICODE, Signs, call_text, headline, job_size, short

MAX_COHORTS = 6
MAX_WAITS = 3
MAX_CULPRITS = 4
MAX_EVIDENCE = 4
MAX_ADVICE = 3


_STYLE = {"established": "bold red", "supported": "bold yellow", "hypothesis": "bold yellow"}


def card(diagnosis: Diagnosis, signs: Signs = UNICODE) -> RenderableType:
    """The best verdict in full; others in a line each."""
    if not diagnosis.verdicts:
        return Text("no verdict")
    best, *others = diagnosis.verdicts
    parts: list[RenderableType] = [_title(best, diagnosis, signs), Text(best.sentence), Text()]
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="bold", no_wrap=True)
    rows.add_column(overflow="fold", ratio=1)
    for label, lines in _rows(best, diagnosis, signs):
        for number, line in enumerate(lines):
            rows.add_row(label if number == 0 else "", line)
    for number, other in enumerate(others[:MAX_ADVICE]):
        rows.add_row("also" if number == 0 else "", Text(f"{other.cause}: {other.sentence}"))
    if len(others) > MAX_ADVICE:
        rows.add_row("", Text(f"and {len(others) - MAX_ADVICE} more verdicts"))
    parts.append(rows)
    return Group(*parts)


def _title(verdict: Verdict, diagnosis: Diagnosis, signs: Signs) -> Text:
    style = "bold green" if verdict.cause == "no_hang" else _STYLE[verdict.confidence]
    return Text.assemble(
        (headline(verdict, signs), style),
        f"  {verdict.confidence}",
        (f"  {signs.dot} {job_size(diagnosis)}", "dim"),
    )


def _rows(verdict: Verdict, diagnosis: Diagnosis, signs: Signs) -> Iterable[tuple[str, list[Text]]]:
    if verdict.culprits:
        yield "culprit" if len(verdict.culprits) == 1 else "culprits", _culprits(verdict.culprits, signs)
    if verdict.victims:
        yield "victims", [Text(short(verdict.victims, signs))]
    if verdict.location is not None:
        yield "where", _location(verdict)
        if verdict.location.why_it_can_differ:
            yield "why", [Text(verdict.location.why_it_can_differ)]
    if verdict.divergence is not None:
        where = verdict.divergence.place or ""
        bound = "" if verdict.divergence.exact else " (at the latest: earlier calls are lost)"
        number = "" if verdict.divergence.seq is None else f" #{verdict.divergence.seq}"
        yield "parted", [Text(f"group {verdict.divergence.group}{number}{bound} {where}".rstrip())]
        yield "cohorts", _cohorts(verdict.divergence.cohorts, signs)
    if verdict.waits:
        yield "waits", _waits(verdict, signs)
    if verdict.remedies:
        yield "do", [Text(f"{remedy.title}: {remedy.text}") for remedy in verdict.remedies[:MAX_ADVICE]]
    if verdict.anti_advice:
        yield "do not", [Text(line) for line in verdict.anti_advice[:MAX_ADVICE]]
    if verdict.probes:
        yield "confirm", [Text(f"{probe.title}: {probe.text}") for probe in verdict.probes[:2]]
    if verdict.alternatives:
        yield "or else", [Text(f"{other.cause}: {other.sentence}") for other in verdict.alternatives[:2]]
    if verdict.missing_evidence:
        missing = verdict.missing_evidence
        yield "missing", [Text(f"{item.what} ({item.how})") for item in missing[:MAX_ADVICE]]
    if verdict.evidence:
        yield "proof", _evidence(verdict, diagnosis, signs)
    if diagnosis.notes:
        first = diagnosis.notes[0]
        rest = f" (and {len(diagnosis.notes) - 1} more notes)" if len(diagnosis.notes) > 1 else ""
        yield "unread", [Text(f"{first}{rest}")]


def _culprits(culprits: Sequence[Culprit], signs: Signs) -> list[Text]:
    lines = []
    for culprit in culprits[:MAX_CULPRITS]:
        host = f" on {culprit.host}" if culprit.host else ""
        lines.append(Text(f"rank {culprit.rank}{host}" + (f": {culprit.doing}" if culprit.doing else "")))
    if len(culprits) > MAX_CULPRITS:
        lines.append(Text(f"and {len(culprits) - MAX_CULPRITS} more {signs.more}"))
    return lines


def _location(verdict: Verdict) -> list[Text]:
    where = verdict.location
    assert where is not None
    place = where.file if where.line is None else f"{where.file}:{where.line}"
    lines = [Text(place + (f" in {where.function}" if where.function else ""))]
    if where.condition:
        lines.append(Text(f"{where.condition_line or where.line}: {where.condition}"))
    return lines


def _cohorts(cohorts: Sequence[Cohort], signs: Signs) -> list[Text]:
    lines = [
        Text.assemble((short(cohort.ranks, signs), "bold"), f" {signs.then} {call_text(cohort.call)}")
        for cohort in cohorts[:MAX_COHORTS]
    ]
    if len(cohorts) > MAX_COHORTS:
        lines.append(Text(f"and {len(cohorts) - MAX_COHORTS} more cohorts"))
    return lines


def _waits(verdict: Verdict, signs: Signs) -> list[Text]:
    lines = []
    for wait in verdict.waits[:MAX_WAITS]:
        number = "" if wait.seq is None else f" #{wait.seq}"
        call = f"{wait.op or 'call'}{number} of {wait.group}"
        who = f"{short(wait.ranks, signs)} {signs.waits_for} {short(wait.waits_for, signs)}"
        lines.append(Text(f"{who}  in {call}"))
    if len(verdict.waits) > MAX_WAITS:
        lines.append(Text(f"and {len(verdict.waits) - MAX_WAITS} more waits"))
    return lines


def _evidence(verdict: Verdict, diagnosis: Diagnosis, signs: Signs) -> list[Text]:
    quotes = {item.id: item for item in diagnosis.evidence}
    lines = []
    for evidence_id in verdict.evidence[:MAX_EVIDENCE]:
        item = quotes.get(evidence_id)
        if item is not None:
            lines.append(Text(f"{item.id}: {item.quote}", style="dim"))
    if len(verdict.evidence) > MAX_EVIDENCE:
        lines.append(Text(f"and {len(verdict.evidence) - MAX_EVIDENCE} more {signs.more}", style="dim"))
    return lines
