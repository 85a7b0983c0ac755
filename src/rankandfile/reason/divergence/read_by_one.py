"""A call that a library makes where the program does no more than read an attribute, as `trainer.log_dir` is read.

Nobody who wrote that meant all ranks to come together there. Where as many read it as do not, that all did in the
rounds before does not make the ones who do without it those who departed: who reads it alone has made a call too many.
"""

from __future__ import annotations

from fnmatch import fnmatch

from msgspec.structs import replace

from rankandfile.model.heuristics import heuristic
from rankandfile.reason.waits.facts import WaitFacts

from .code_paths import stack_of
from .divergence_point import DivergencePoint, place_of

#: The property, and the file of the library that it is in.
_READ = (("log_dir", "*lightning*trainer.py"),)


@heuristic(
    "read not called", "of as many ranks each, who alone reads an attribute that communicates departed"
)
def read_alone(facts: WaitFacts, found: DivergencePoint) -> DivergencePoint | None:
    """The same with the sides exchanged; None where the normal side's call is written as one."""
    due = found.expected
    if found.kind not in ("skipped", "substituted") or due is None or not found.culprits:
        return None
    names = ((f.function.rsplit(".", 1)[-1], f.file) for f in stack_of(facts.case, due["stack"]))
    if not any(name == read and fnmatch(file, where) for name, file in names for read, where in _READ):
        return None
    return replace(
        found,
        kind="extra",
        culprits=found.normal,
        normal=found.other,
        other=found.normal,
        expected=found.came,
        came=due,
        place=place_of(facts, due, found.came),
        usual=(),
    )
