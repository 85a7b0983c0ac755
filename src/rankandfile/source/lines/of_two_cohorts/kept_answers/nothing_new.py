"""A library's call asks the other ranks only where there is something new since it asked last: a metric that was not
updated answers from what it kept, and the rank goes on without the call that the others wait in."""

from __future__ import annotations

import ast
from typing import NamedTuple

from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence import Reason, only_told_upon, why_counted
from rankandfile.source.dependence.reason import UNKNOWN
from rankandfile.source.effects.event import event
from rankandfile.source.lines.arguments import calls_on
from rankandfile.source.lines.call_paths import CallPath, Stop, first_unlike
from rankandfile.source.lines.divergence import CodeDivergence, ranks_in_words
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.program.modules import Function
from rankandfile.source.program.places import place_in
from rankandfile.source.registry.tables import TABLE


@heuristic("nothing new", "a library's call was left out where the object had nothing new to tell")
def nothing_new(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """The decision upon which the object was given something new, where that can differ between ranks."""
    normal = divergence.normal
    diverged_at = first_unlike(normal.path, divergence.culprit.path)
    if diverged_at is None:
        return never_told(search, normal.path, divergence)
    given = _given_upon(search, normal.path[diverged_at:])
    if given is None:
        return None
    story = (
        f"{given.call} ({given.at}) asks the other ranks only where it was given something to tell: on "
        f"{ranks_in_words(divergence.culprit)} it need not have been."
    )
    return given.found_line(divergence, "anew", story)


@heuristic("never told", "a library's call asks for less where the object was given nothing")
def never_told(search: Search, path: CallPath, divergence: CodeDivergence | None = None) -> FoundLine | None:
    """The same, where all are in such a call, and it asks for what the object holds on each."""
    given = _given_upon(search, path)
    if given is None or given.reason.level == "unknown":
        return None
    story = f"{given.call} ({given.at}) gathers what the object was given on each rank."
    return given.found_line(divergence, "told", story)


class _Given(NamedTuple):
    call: str
    at: str
    function: Function
    line: int
    reason: Reason

    def found_line(self, divergence: CodeDivergence | None, kind: str, story: str) -> FoundLine:
        place, text = place_in(self.function, self.line), self.function.module.code_at(self.line)
        return FoundLine(place, self.line, text, self.reason, divergence, kind=kind, story=story)


def _given_upon(search: Search, path: CallPath) -> _Given | None:
    """The first call of the way that answers for what its object was given, and upon what that was: by what is known to
    differ, or by the only test that there is."""
    for frame in path:
        place = search.places.find(frame)
        if place is None or not place.known:
            continue
        for call in calls_on(place, Stop(frame.line)):
            made = event(call, place.function)
            told = TABLE.anew.get(made.name) if made is not None else None
            if made is None or told is None or not isinstance(call.func, ast.Attribute):
                continue
            asked = ast.Attribute(value=call.func.value, attr=told, ctx=ast.Load())
            counter, owner = ast.copy_location(asked, call), made.name.rpartition(".")[0]
            reason = why_counted(search.program, counter, owner)
            upon = reason.chain[0] if reason.level == "varying" and reason.chain else None
            module = search.program.module(upon.file) if upon is not None else None
            function = module.function_at(upon.line) if upon is not None and module is not None else None
            asks, at = ast.unparse(call.func), place.at(frame.line)
            if upon is not None and function is not None:
                return _Given(asks, at, function, upon.line, reason)
            only = only_told_upon(search.program, counter, owner) if reason.level == "unknown" else None
            if only is not None:
                return _Given(asks, at, only[0], only[1].line, UNKNOWN)
    return None
