"""The probes, the sharpest first."""

from __future__ import annotations

from rankandfile.source.program.modules import Files
from rankandfile.source.remedies.code import Code
from rankandfile.source.remedies.edit import CannotEdit
from rankandfile.source.remedies.patch import Patch
from rankandfile.source.remedies.pattern import ORDERS, Draft, Pattern, finished
from rankandfile.source.remedies.place import place_of
from rankandfile.source.remedies.problem import Problem

from . import about_to_call, same_decision, step_counter

PROBES: tuple[Pattern, ...] = (
    Pattern("same_decision", ORDERS, same_decision.make),
    Pattern("about_to_call", ORDERS, about_to_call.make),
    Pattern("step_counter", ORDERS, step_counter.make),
)


def probes(problem: Problem, files: Files | Code, plain: bool = False) -> list[Patch]:
    """The probes for a problem. Raises `LibCSTMissing`."""
    code = files if isinstance(files, Code) else Code(files)
    place = place_of(problem, code)
    found: list[Patch] = []
    for probe in PROBES if place is not None else ():
        if problem.cause not in probe.causes or place is None:
            continue
        try:
            draft = probe.make(place, plain)
            if isinstance(draft, Draft):
                found.append(finished(probe, draft))
        except (CannotEdit, RecursionError):
            continue
    return found
