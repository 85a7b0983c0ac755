"""From a verdict to the line of code: where the ranks parted, on which condition, and why that can differ."""

from __future__ import annotations

import msgspec

from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Diagnosis, Location, Verdict
from rankandfile.model.ledger import Note
from rankandfile.source.culprits.by_code import blamed
from rankandfile.source.culprits.exact_cause import refined
from rankandfile.source.files.tree import SourceTree
from rankandfile.source.program.places import Places

from .excerpt import excerpts
from .finder import find
from .found import Found, Search
from .sentence import sentence


def locate(case: Case, diagnosis: Diagnosis, tree: SourceTree) -> Diagnosis:
    """The diagnosis with the locations, excerpts and sentences that the source supports.

    A location that only repeats a call of the dumps is taken away where the source was asked and had no answer: it
    is in the divergence already, and is not where the ranks parted.
    """
    search = Search(case, tree)
    verdicts = [_located(search, verdict) for verdict in diagnosis.verdicts]
    notes = [*diagnosis.notes, *tree.notes, *_notes(search.places)]
    return msgspec.structs.replace(diagnosis, verdicts=verdicts, notes=notes)


def _located(search: Search, verdict: Verdict) -> Verdict:
    found = find(search, verdict)
    if found is None:
        return msgspec.structs.replace(verdict, location=None)
    verdict = refined(blamed(verdict, found, search), found)
    words = sentence(found, search.places)
    return msgspec.structs.replace(
        verdict,
        location=_location(found),
        excerpts=excerpts(found),
        sentence=f"{verdict.sentence} {words}".strip(),
    )


def _location(found: Found) -> Location:
    return Location(
        file=found.place.path,
        line=found.line,
        function=found.place.function.name,
        condition=found.condition,
        condition_line=found.line if found.condition else None,
        why_it_can_differ=(found.reason.sentence or None) if found.reason else None,
    )


def _notes(places: Places) -> list[Note]:
    """What of the source does not match what ran, or could not be told apart."""
    notes = [
        Note(file=path, where="", what=f"the file changed after the run, or is another one: {doubt}")
        for path, doubt in places.doubts.items()
    ]
    for file, paths in places.ambiguous.items():
        several = ", ".join(paths[:4])
        notes.append(Note(file=file, where="", what=f"could be any of {several}; nothing tells which"))
    return notes
