"""Probes: the few instruments that confirm a verdict, each at the branching point. One a file, with its `PROBE`."""

from __future__ import annotations

from rankandfile import listing
from rankandfile.source.program.modules import Files
from rankandfile.source.remedies.choose import tried
from rankandfile.source.remedies.code import Code
from rankandfile.source.remedies.patch import Patch
from rankandfile.source.remedies.pattern import Pattern
from rankandfile.source.remedies.place_to_mend import place_of
from rankandfile.source.remedies.problem import Problem


def probes(problem: Problem, files: Files | Code, plain: bool = False) -> list[Patch]:
    """The probes for a problem, the sharpest first."""
    place = place_of(problem, files if isinstance(files, Code) else Code(files))
    if place is None:
        return []
    known = listing.members(__name__, "PROBE", Pattern)
    answers = (tried(probe, place, plain) for probe in known if problem.cause in probe.causes)
    return [answer for answer in answers if isinstance(answer, Patch)]
