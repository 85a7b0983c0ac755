"""From a verdict to the line of code: where the ranks parted, on which condition, and why that can differ."""

from __future__ import annotations

import msgspec

from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Diagnosis, Location, Verdict

from .decision import decisions
from .fork import Fork, forks
from .parting import Parting, parting
from .place import Places, in_loop
from .program import Program
from .raising import condition_of_raise
from .standing import innermost, standing
from .tree import SourceTree
from .ways import Frame, Ways


def locate(case: Case, diagnosis: Diagnosis, tree: SourceTree) -> Diagnosis:
    """The diagnosis with the locations, excerpts and sentences that the source supports."""
    finder = Finder(case, tree)
    verdicts = [finder.located(verdict) for verdict in diagnosis.verdicts]
    return msgspec.structs.replace(diagnosis, verdicts=verdicts)


class Finder:
    def __init__(self, case: Case, tree: SourceTree) -> None:
        self.ways = Ways(case)
        self.places = Places(tree, Program(tree))

    def located(self, verdict: Verdict) -> Verdict:
        if not verdict.hang:
            return verdict
        location = self._location(verdict)
        return msgspec.structs.replace(verdict, location=location)

    def _location(self, verdict: Verdict) -> Location | None:
        culprit = verdict.culprits[0].rank if verdict.culprits else None
        if verdict.family == "host" and culprit is not None:
            return self._held(culprit)
        if verdict.cause == "raised" and culprit is not None:
            return self._raised(culprit)
        found = parting(self.ways, verdict)
        return self._parted(found) if found is not None else None

    def _held(self, rank: int) -> Location | None:
        found = standing(self.places, self.ways, rank)
        if found is None:
            return None
        return Location(
            file=found.place.path,
            line=found.line,
            function=found.place.function.name,
            condition=found.condition,
            condition_line=found.line if found.condition else None,
        )

    def _raised(self, rank: int) -> Location | None:
        for way, _ in self.ways.raised(rank):
            place = innermost(self.places, way)
            if place is not None:
                condition = condition_of_raise(place)
                line = condition.line if condition else place.line
                return Location(
                    file=place.path,
                    line=line,
                    function=place.function.name,
                    condition=condition.text if condition else None,
                    condition_line=condition.line if condition else None,
                )
        return None

    def _parted(self, found: Parting) -> Location | None:
        best = next(iter(decisions(self.places, self._forks(found))), None)
        if best is None:
            return None
        return Location(
            file=best.place.path,
            line=best.condition.line,
            function=best.place.function.name,
            condition=best.condition.text,
            condition_line=best.condition.line,
            why_it_can_differ=best.reason.sentence or None,
        )

    def _forks(self, found: Parting) -> list[Fork]:
        return forks(found.before, found.normal.way or "end", found.culprit.way or "end", self._loops)

    def _loops(self, frame: Frame) -> bool:
        place = self.places.find(frame)
        return place is not None and in_loop(place)
