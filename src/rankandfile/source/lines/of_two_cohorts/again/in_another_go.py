"""A rank that was seen in the `try` of a loop that tries again, and the others outside of it: it may be in another go.

Of stacks alone it may as well be in a later round of a loop further out. The handler comes first where this rank alone
wrote what the handler writes, or where what makes that loop differ is an exception that a handler took itself.

In: where two cohorts were seen, and the decision that would be named. Out: the handler's line, or that of the decorator
that tries again, with the ranks that are in another go.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from rankandfile.model.heuristics import heuristic
from rankandfile.source.lines.decision import Decision
from rankandfile.source.lines.divergence import CodeDivergence, Side
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.lines.from_logs.told_by_log import written_within
from rankandfile.source.program.places import SourcePlace

from .run_again import of_decorator
from .tried_again import handlers_of, is_inside, retried


@heuristic(
    "in another go", "who stands in what a handler tries again, and wrote what the handler writes, came by it"
)
def in_another_go(search: Search, found: Sequence[CodeDivergence], best: Decision | None) -> FoundLine | None:
    """The handler by which one side came to where it stands."""
    if best is not None and best.condition.kind == "except":
        return None
    excepted = best is not None and best.reason.source == "exception"
    for divergence in found:
        sides = (divergence.culprit, divergence.normal)
        for side in sides if all(side.seen for side in sides) else ():
            for depth, place, handler in _around(search, divergence, side):
                wrote = [one.rank for one in written_within(search, handler.body) if one.rank in side.members]
                if wrote or excepted:
                    # Whoever went into it again is out of line, whichever of the two that is.
                    seen = replace(divergence, normal=divergence.other_than(side), culprit=side)
                    return of_decorator(search, seen, depth + 1) or _of_handler(seen, place, handler, best)
    return None


def _of_handler(
    divergence: CodeDivergence, place: SourcePlace, handler: ast.ExceptHandler, best: Decision | None
) -> FoundLine:
    return FoundLine(
        place,
        handler.lineno,
        place.module.code_at(handler.lineno),
        best.reason if best is not None and best.reason.source == "exception" else None,
        divergence,
        kind="caught",
        singled=divergence.culprit.members,
        tried_again=True,
    )


def _around(
    search: Search, divergence: CodeDivergence, side: Side
) -> Iterator[tuple[int, SourcePlace, ast.ExceptHandler]]:
    """The handlers of loops that try again in whose `try` this side alone stands, the innermost first."""
    other = divergence.other_than(side)
    for depth in range(len(side.path) - 1, -1, -1):
        place = search.places.find(side.path[depth])
        if place is None or not place.known:
            continue
        for handler in handlers_of(place):
            tried = retried(place, handler)
            if (
                tried is not None
                and is_inside(search.places, place.function, tried, side)
                and not is_inside(search.places, place.function, tried, other)
            ):
                yield depth, place, handler
