"""The scores of investigators: a row each, beside the diagnosis on the same incidents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.table import Table

from rankandfile.model.document import pretty

from .investigators import Case, Investigated
from .judge import Marks
from .tally import share

BEGIN, END = "<!-- investigator: begin -->", "<!-- investigator: end -->"
_HEADINGS = (
    "", "incidents", "culprits exact", "innocents blamed", "cause", "file and function", "the condition's line",
    "the fix", "claims that check out", "tokens", "cost", "time each",
)  # fmt: skip


def rows(found: Sequence[Investigated]) -> Iterator[tuple[str, ...]]:
    for one in found:
        cases = one.cases
        yield (one.investigator, *_verdicts([case.marks for case in cases]), *_document(cases))
        theirs = [case.model for case in cases if case.model is not None]
        if theirs:
            yield (f"{one.investigator}: its own verdicts", *_verdicts(theirs), "-", "-", "-", "-", "-")
    if found:
        diagnosed = [case.diagnosis for case in found[0].cases]
        yield ("diagnose --src, the same incidents", *_verdicts(diagnosed), "-", "-", "-", "-", "-")


def _verdicts(marks: Sequence[Marks]) -> tuple[str, ...]:
    return (
        str(len(marks)),
        str(share([one.culprits_right for one in marks])),
        str(sum(bool(one.innocents_blamed) for one in marks)),
        str(share([one.cause_right for one in marks])),
        str(share([one.location_right for one in marks])),
        str(share([one.condition_right for one in marks])),
    )


def _document(cases: Sequence[Case]) -> tuple[str, ...]:
    told = [case.fix for case in cases if case.fix is not None]
    sentences, unsupported = sum(c.sentences for c in cases), sum(c.unsupported for c in cases)
    added = [case.added for case in cases if case.added is not None]
    dropped = sum(one.dropped for one in added)
    more = f"; {dropped:,} of the model's dropped" if added else ""
    costs = [one.cost for one in added]
    cost = f"${sum(c for c in costs if c is not None):.2f}" if added and None not in costs else "not known"
    return (
        f"{sum(told)}/{len(told)}",
        f"{sentences - unsupported:,}/{sentences:,}{more}",
        f"{sum(one.tokens for one in added):,}",
        cost if added else "$0",
        f"{sum(case.seconds for case in cases) / max(1, len(cases)):.1f} s",
    )


def table(found: Sequence[Investigated]) -> Table:
    shown = Table(title="investigators", title_justify="left", box=box.SIMPLE_HEAD)
    for heading in _HEADINGS:
        shown.add_column(heading, overflow="fold")
    for row in rows(found):
        shown.add_row(*row)
    return shown


def block(found: Sequence[Investigated]) -> Iterator[str]:
    yield f"| {' | '.join(_HEADINGS)} |"
    yield f"| {' | '.join('---' for _ in _HEADINGS)} |"
    for row in rows(found):
        yield f"| {' | '.join(row)} |"


def worst_lines(found: Sequence[Investigated]) -> Iterator[str]:
    """Where an investigation says less than the diagnosis, or something that does not check out."""
    for one in found:
        for case in one.cases:
            wrong = [
                name.removesuffix("_right")
                for name in ("culprits_right", "cause_right", "location_right", "condition_right")
                if getattr(case.marks, name) is False and getattr(case.diagnosis, name) is not False
            ]
            wrong += ["the fix"] if case.fix is False else []
            wrong += [f"{case.unsupported} unsupported claims"] if case.unsupported else []
            wrong += [f"innocents {case.marks.innocents_blamed}"] if case.marks.innocents_blamed else []
            if wrong:
                yield f"{one.investigator}: {case.marks.incident}: {', '.join(wrong)}"


def to_json(found: Sequence[Investigated]) -> bytes:
    return pretty(found) + b"\n"
