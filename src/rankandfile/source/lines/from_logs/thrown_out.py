"""Who was thrown out of what the others wait in, by what the handler around that writes: no other rank wrote so.

A call that asks the other ranks, for a checkpoint or for objects, may raise before it asks: both sides came to its line
then, and no test stands between them. In the stacks and dumps that looks as if the one side had never come there. What
comes after the call in that block may raise as well, with the call done: then the line is of a round before.

In: where two cohorts went. Out: the handler around the call that one waits in, where the other wrote what it writes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence.syntax import spans
from rankandfile.source.lines.call_paths import first_unlike
from rankandfile.source.lines.divergence import CodeDivergence
from rankandfile.source.lines.exception_origin import handlers_around
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.program.places import SourcePlace

from .told_by_log import own_lines, written_within


@heuristic(
    "thrown out by its log",
    "who alone wrote what the handler around the others' call writes was thrown out of that",
)
def thrown_out(search: Search, found: Sequence[CodeDivergence]) -> FoundLine | None:
    """The innermost such handler, where the ranks that diverged wrote so, and they alone."""
    if not own_lines(search):
        return None
    for divergence in found:
        for place, handler in _around(search, divergence):
            wrote = tuple(one.rank for one in written_within(search, handler.body))
            if wrote and {*wrote} == {*divergence.culprit.members}:
                text = place.module.code_at(handler.lineno)
                return FoundLine(place, handler.lineno, text, None, divergence, kind="caught", singled=wrote)
    return None


def _around(search: Search, divergence: CodeDivergence) -> Iterator[tuple[SourcePlace, ast.ExceptHandler]]:
    """The handlers in whose `try` the normal side waits, and the other does not stand."""
    normal, culprit = divergence.normal, divergence.culprit
    diverged_at = first_unlike(normal.path, culprit.path)
    if diverged_at is None or not divergence.settled:
        return
    there = search.places.find(culprit.path[diverged_at])
    for depth in range(len(normal.path) - 1, diverged_at - 1, -1):
        place = search.places.find(normal.path[depth])
        if place is not None and place.known:
            inside = handlers_around(there) if depth == diverged_at and there is not None else []
            caught = (handler for handler in handlers_around(place) if handler not in inside)
            yield from ((place, handler) for handler in caught if _is_last(place, handler))


def _is_last(place: SourcePlace, handler: ast.ExceptHandler) -> bool:
    """Whether the line is in the last statement of the block."""
    tried = next(
        node for node in place.function.nodes if isinstance(node, ast.Try) and handler in node.handlers
    )
    within = (node for part in tried.body for node in ast.walk(part) if isinstance(node, ast.stmt))
    return all(spans(node, place.line) or node.lineno < place.line for node in within)
