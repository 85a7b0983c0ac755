"""A function whose results are remembered runs on the rank alone that asks for something new: `@lru_cache`."""

from __future__ import annotations

import ast

from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence import why
from rankandfile.source.dependence.syntax import arguments
from rankandfile.source.files.text import without_comment
from rankandfile.source.lines.arguments import calls_on
from rankandfile.source.lines.call_paths import Stop, first_unlike
from rankandfile.source.lines.divergence import CodeDivergence, ranks_in_words
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import External, resolve
from rankandfile.source.program.places import SourcePlace

_REMEMBERS = {"functools.lru_cache", "functools.cache"}


@heuristic(
    "remembered results", "a function with a cache around it runs where it was asked for something new"
)
def remembered(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """The cache's line, where one side is in such a function, asked for what differs between ranks."""
    normal, culprit = divergence.normal, divergence.culprit
    parted = first_unlike(normal.path, culprit.path) or 0
    for side, other in ((culprit, normal), (normal, culprit)):
        for depth in range(max(parted, 1), len(side.path)):
            place, caller = (search.places.find(side.path[d]) for d in (depth, depth - 1))
            if place is None or caller is None or not place.known or not caller.known:
                continue
            cache = _cache(place.function)
            if cache is None or any(frame[:2] == side.path[depth][:2] for frame in other.path):
                continue
            given = (
                argument
                for call in calls_on(caller, Stop(caller.line, side.path[depth].function))
                for argument in arguments(call)
            )
            reasons = (why(search.program, caller.function, argument) for argument in given)
            reason = next((one for one in reasons if one.level == "varying"), None)
            if reason is not None:
                text = without_comment(place.module.lines[cache.lineno - 1].strip())
                story = f"{place.function.name} ran on {ranks_in_words(side)}, and its result was remembered elsewhere."
                at = SourcePlace(place.path, place.module, place.function, cache.lineno)
                return FoundLine(at, cache.lineno, text, reason, divergence, kind="remembered", story=story)
    return None


def _cache(function: Function) -> ast.expr | None:
    if isinstance(function.node, (ast.Module, ast.Lambda)):
        return None
    for decorator in function.node.decorator_list:
        target = resolve(
            function.parent or function, decorator.func if isinstance(decorator, ast.Call) else decorator
        )
        if isinstance(target, External) and target.dotted in _REMEMBERS:
            return decorator
    return None
