"""A library's call asks the other ranks only where there is something new since it asked last: a metric that was not
updated answers from what it kept, and the rank goes on without the call that the others wait in."""

from __future__ import annotations

import ast

from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence import why_counted
from rankandfile.source.effects.event import event
from rankandfile.source.lines.arguments import calls_on
from rankandfile.source.lines.call_paths import Stop, first_unlike
from rankandfile.source.lines.divergence import CodeDivergence, ranks_in_words
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.program.places import place_in
from rankandfile.source.registry.tables import TABLE


@heuristic("nothing new", "a library's call was left out where the object had nothing new to tell")
def nothing_new(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """The decision upon which the object was given something new, where that can differ between ranks."""
    normal = divergence.normal
    parted = first_unlike(normal.path, divergence.culprit.path) or 0
    for frame in normal.path[parted:]:
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
            if upon is None or module is None:
                continue
            function = module.function_at(upon.line)
            if function is None:
                continue
            story = (
                f"{ast.unparse(call.func)} ({place.at(frame.line)}) asks the other ranks only where "
                f"something was added since it asked last: on {ranks_in_words(divergence.culprit)} it need not have."
            )
            text = module.code_at(upon.line)
            at = place_in(function, upon.line)
            return FoundLine(at, upon.line, text, reason, divergence, kind="anew", story=story)
    return None
