"""What the source says of verdicts: the line where the ranks went different ways, on which condition, whom it names."""

from __future__ import annotations

from collections.abc import Sequence

from rankandfile.model.diagnosis import Location, Verdict
from rankandfile.model.findings import NamedByCode, SourceFinding, SourceFindings, Statement
from rankandfile.model.ledger import Note

from .culprits.all_in_the_circle import all_in_the_circle
from .culprits.as_many import as_many
from .culprits.by_code import named_by_code
from .culprits.exact_cause import exact_cause
from .culprits.ways import with_culprits
from .culprits.went_by import who_went_by
from .culprits.wrote_it import who_wrote_it
from .lines.excerpt import excerpts
from .lines.finder import find
from .lines.found_line import FoundLine, Search
from .lines.from_logs.told_by_log import as_logged
from .lines.sentence import DIVERGED_LATER, because, implied_calls, sentence
from .lint.before import flagged_before
from .program.places import SourcePlaces


def source_findings(search: Search, verdicts: Sequence[Verdict]) -> SourceFindings:
    """The locations, excerpts and sentences that the source supports, and the causes and culprits that it shows."""
    of_verdicts = tuple(_finding(search, verdict) for verdict in verdicts)
    return SourceFindings(of_verdicts=of_verdicts, notes=(*search.tree.notes, *_notes(search.places)))


def _finding(search: Search, verdict: Verdict) -> SourceFinding | None:
    found, named = _found(search, verdict)
    if found is None:
        return None
    # Where the code has somebody to name, the cause is no longer open.
    cause = "skipped_collective" if named and verdict.cause == "undetermined" else verdict.cause
    cause = (named.cause if named else None) or cause
    exact = exact_cause(cause, with_culprits(found, named.ranks) if named else found, search.places)
    return SourceFinding(
        location=_location(found, search.places),
        decided_by=_statement(found.condition or ""),
        excerpts=tuple(excerpts(found)),
        sentence=sentence(found, search.places),
        named=named,
        as_many=as_many(verdict, found, named),
        causes=(*([cause] if named else []), *([exact] if exact else [])),
        implied=tuple(implied_calls(found.divergence, search.places)) if found.divergence else (),
    )


def _found(search: Search, verdict: Verdict) -> tuple[FoundLine | None, NamedByCode | None]:
    """The line, and whom the code names."""
    found = find(search, verdict)
    if found is not None:
        found, wrote = as_logged(search, found)
        named = (
            who_wrote_it(verdict, found, wrote)
            or named_by_code(verdict, found, search.paths)
            or all_in_the_circle(verdict, found, search.paths)
        )
        if named is not None:
            return found, named
    return who_went_by(search, verdict, found) or (found, None)


def _statement(condition: str) -> Statement:
    """Of a condition as the program has it."""
    if condition.startswith(("for ", "async for ", "while ")):
        return "loop"
    return "handler" if condition.startswith("except") else ""


def _location(found: FoundLine, places: SourcePlaces) -> Location:
    test = found.decision if found.kind in DIVERGED_LATER else None
    diverged_at = (test.place.path, test.condition.line) if test is not None else None
    lines = [(found.place.path, found.line), *([diverged_at] if diverged_at else [])]
    return Location(
        file=found.place.path,
        line=found.line,
        function=found.place.function.name,
        condition=found.condition,
        condition_line=found.line if found.condition else None,
        why_it_can_differ=(found.reason.sentence or None) if found.reason else None,
        because=because(found) or None,
        parted_file=diverged_at[0] if diverged_at else None,
        parted_line=diverged_at[1] if diverged_at else None,
        # Only of the code that ran.
        flagged_before=flagged_before(
            places.program, [each for each in lines if each[0] not in places.doubts]
        ),
        others_unseen=found.decision is not None and found.decision.branching.guessed,
    )


def _notes(places: SourcePlaces) -> list[Note]:
    """What of the source does not match what ran, or could not be told apart."""
    notes = [
        Note(file=path, where="", what=f"the file changed after the run, or is another one: {doubt}")
        for path, doubt in places.doubts.items()
    ]
    for file, paths in places.ambiguous.items():
        several = ", ".join(paths[:4])
        notes.append(Note(file=file, where="", what=f"could be any of {several}; nothing tells which"))
    return notes
