"""The line of a decision or, where that only asks what an earlier line made, of that one."""

from __future__ import annotations

from msgspec.structs import replace

from rankandfile.source.files.text import without_comment
from rankandfile.source.lines.decision import Decision
from rankandfile.source.lines.divergence import CodeDivergence
from rankandfile.source.lines.exception_origin import Keeper, catcher, keeper_around, raised_below
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.program.places import SourcePlace

from .again.tried_again import tried_again
from .another_callee import at
from .changed_upon import changed_upon, thing
from .two_ways import sides_of
from .without_a_test import of_loop


def decided(search: Search, decision: Decision, divergence: CodeDivergence) -> FoundLine:
    """The line of a decision or, where that only asks what an earlier line made, of that one."""
    condition, place = decision.condition, decision.place
    text = without_comment(condition.text)
    found = FoundLine(place, condition.line, text, decision.reason, divergence, decision, kind="decision")
    if condition.kind == "except":
        return tried_again(search.places, replace(found, kind="caught"))
    if condition.kind == "call" and decision.branching.culprit == "end":
        # What was called raised, and the rank went on all the same: whoever kept that to itself let it.
        kept = catcher(search.places, decision.branching.outer, None)
        if kept is not None:
            return _caught(search, found, *kept)
    entry = of_loop(search, place, condition, sides_of(search, divergence))
    if entry is not None and entry.fills:
        filled = at(entry, divergence, "filled")
        return thing(search, replace(filled, decision=decision)) if entry.keyed else filled
    if entry is not None and entry.caught:
        return at(entry, divergence, "dropped")
    if entry is not None and entry.function is not place.function:
        file = entry.function.module.path.rsplit("/", 1)[-1]
        text = entry.function.module.code_at(entry.line)
        return replace(
            found, story=f"What it goes over is cut for each rank at {file}:{entry.line} by `{text}`."
        )
    raised = raised_below(place, condition)
    if raised is None:
        return changed_upon(search, found) or found
    # The nearest handler may stand in the function itself, or in one further out.
    inside = keeper_around(replace(place, line=raised.lineno), raised)
    caught = (
        (place, inside) if inside is not None else catcher(search.places, decision.branching.outer, raised)
    )
    return _caught(search, found, *caught) if caught is not None else found


def _caught(search: Search, found: FoundLine, where: SourcePlace, handler: Keeper) -> FoundLine:
    text = where.module.code_at(handler.lineno)
    caught = replace(found, place=where, line=handler.lineno, condition=text, kind="caught")
    return tried_again(search.places, caught)
