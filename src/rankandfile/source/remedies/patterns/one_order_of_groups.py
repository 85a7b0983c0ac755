"""One order of groups: both arms of a branch make the same calls, in different orders."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence

from rankandfile.source.remedies.patch import Refusal
from rankandfile.source.remedies.pattern import PATHS, Draft, Pattern, spelling
from rankandfile.source.remedies.place_to_mend import PlaceToMend
from rankandfile.source.remedies.reach import POINT_TO_POINT
from rankandfile.source.remedies.words import quoted


def make(place: PlaceToMend, plain: bool) -> Draft | Refusal | None:
    node = place.node
    if not isinstance(node, ast.If):
        return None
    other = place.otherwise(node)
    mine, theirs = _calls(node.body), _calls(other)
    if len(mine) < 2 or mine == theirs or not (place.leads_to(node) or place.problem.kind == "cycle"):
        return None
    if any(event.name in POINT_TO_POINT for event in place.events([*node.body, *other])):
        return Refusal(
            "one_order_of_groups",
            f"the two ways at {quoted(place.module, node.test)} send and receive: one side sends while the other "
            "receives, and one order for both would be a circle. Post the receives first, or all of it at once "
            "(batch_isend_irecv).",
        )
    if Counter(mine) != Counter(theirs):
        if place.problem.cause != "order_inversion":
            return None
        return Refusal(
            "one_order_of_groups",
            f"the two ways at {quoted(place.module, node.test)} do not make the same calls: decide on one "
            "order of the calls that both make, and write it once, before the branch.",
        )
    edits = spelling(place, plain).edits
    edits.replace(node, *(place.module.lines_of(statement) for statement in node.orelse))
    return Draft(
        edits,
        "Issue the calls in one order",
        f"Both ways at {quoted(place.module, node.test)} make the same calls, but in different orders, and "
        "ranks that wait for each other in different groups go round in a circle. Every rank now takes the "
        "same way.",
        "The other order would do as well, if all ranks take it.",
    )


def _calls(body: Sequence[ast.stmt]) -> list[str]:
    """The calls made, in order, as written."""
    found = [part for statement in body for part in ast.walk(statement) if isinstance(part, ast.Call)]
    return [ast.dump(part) for part in sorted(found, key=lambda part: (part.lineno, part.col_offset))]


ORDER = 30
PATTERN = Pattern("one_order_of_groups", PATHS, make)
