"""From a verdict to the line of code: where the ranks parted, on which condition, and why that can differ."""

from __future__ import annotations

import msgspec

from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Diagnosis, Location, Verdict

from .finder import Finder, Found
from .tree import SourceTree


def locate(case: Case, diagnosis: Diagnosis, tree: SourceTree) -> Diagnosis:
    """The diagnosis with the locations, excerpts and sentences that the source supports."""
    finder = Finder(case, tree)
    verdicts = [_located(finder, verdict) for verdict in diagnosis.verdicts]
    return msgspec.structs.replace(diagnosis, verdicts=verdicts)


def _located(finder: Finder, verdict: Verdict) -> Verdict:
    found = finder.find(verdict)
    return msgspec.structs.replace(verdict, location=_location(found) if found else None)


def _location(found: Found) -> Location:
    return Location(
        file=found.place.path,
        line=found.line,
        function=found.place.function.name,
        condition=found.condition,
        condition_line=found.line if found.condition else None,
        why_it_can_differ=(found.reason.sentence or None) if found.reason else None,
    )
