"""The line of a decision or, where that only asks what an earlier line made, of that one."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from rankandfile.source.dependence import why
from rankandfile.source.files.text import without_comment
from rankandfile.source.lines.arguments import assigned
from rankandfile.source.lines.decision import Decision, ordering_loop
from rankandfile.source.lines.divergence import CodeDivergence
from rankandfile.source.lines.exception_origin import Keeper, catcher, keeper_around, raised_below
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.program.places import SourcePlace

from .another_callee import at
from .changed_upon import changed_upon, thing
from .filled_collection import filled_upon
from .without_a_test import of_loop


def decided(search: Search, decision: Decision, divergence: CodeDivergence) -> FoundLine:
    """The line of a decision or, where that only asks what an earlier line made, of that one."""
    condition, place = decision.condition, decision.place
    text = without_comment(condition.text)
    found = FoundLine(place, condition.line, text, decision.reason, divergence, decision, kind="decision")
    if condition.kind == "except":
        return replace(found, kind="caught")
    if condition.kind == "call" and decision.branching.culprit == "end":
        # What was called raised, and the rank went on all the same: whoever kept that to itself let it.
        kept = catcher(search.places, decision.branching.outer, None)
        if kept is not None:
            return _caught(found, *kept)
    order = ordering_loop(place, condition)
    if order is not None:
        # Which item comes first decides, and the loop says which.
        text = without_comment(place.module.lines[order.lineno - 1].strip())
        reason = why(search.program, place.function, order.iter)
        return replace(found, line=order.lineno, condition=text, reason=reason)
    items = condition.node
    made = assigned(place.function, items, condition.line) if isinstance(items, ast.Name) else None
    if made is not None and condition.kind == "for":
        # Not the loop decides, but what it goes over.
        text = without_comment(place.module.lines[made.lineno - 1].strip())
        return replace(found, line=made.lineno, condition=text, kind="order")
    decider = filled_upon(search.places, (), place, condition.node)
    if decider is not None and decider[0] is place and decider[1].line < condition.line:
        # The test only asks what an earlier decision left in a list.
        _, upon, reason = decider
        return replace(
            found, line=upon.line, condition=without_comment(upon.text), reason=reason, kind="filled"
        )
    entry = of_loop(search, place, condition)
    if entry is not None and entry.fills:
        filled = at(entry, divergence, "filled")
        return thing(search, replace(filled, decision=decision)) if entry.keyed else filled
    if entry is not None and entry.caught:
        return at(entry, divergence, "dropped")
    if entry is not None and entry.function is not place.function:
        file = entry.function.module.path.rsplit("/", 1)[-1]
        text = without_comment(entry.function.module.lines[entry.line - 1].strip())
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
    if caught is None:
        outer = [search.places.find(frame) for frame in decision.branching.outer]
        seen = all(frame is not None and frame.known for frame in outer)
        return replace(found, raises=seen and decision.branching.culprit == "end")
    return _caught(found, *caught)


def _caught(found: FoundLine, where: SourcePlace, handler: Keeper) -> FoundLine:
    text = without_comment(where.module.lines[handler.lineno - 1].strip())
    return replace(found, place=where, line=handler.lineno, condition=text, kind="caught")
