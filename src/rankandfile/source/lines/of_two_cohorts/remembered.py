"""A function whose results are remembered runs on the rank alone that asks for something new: `@lru_cache`, or a
decorator of the program that looks whether it has the answer."""

from __future__ import annotations

import ast

from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence import why
from rankandfile.source.dependence.syntax import arguments, spans
from rankandfile.source.dependence.syntax import text as text_of
from rankandfile.source.files.text import without_comment
from rankandfile.source.lines.arguments import calls_on
from rankandfile.source.lines.call_paths import CallPath, Stop, first_unlike
from rankandfile.source.lines.divergence import CodeDivergence, ranks_in_words
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import External, resolve
from rankandfile.source.program.places import SourcePlace

from .run_again import wrapped_by

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
            if any(frame[:2] == side.path[depth][:2] for frame in other.path):
                continue
            at = place
            cache: ast.expr | ast.If | None = _cache(place.function)
            if (
                cache is None
                and depth > 1
                and (cache := _asked_first(search, place, side.path, depth)) is not None
            ):
                at, caller = caller, search.places.find(side.path[depth - 2])
            if cache is None or caller is None or not caller.known:
                continue
            given = (
                argument
                for call in calls_on(caller, Stop(caller.line, place.function.name))
                for argument in arguments(call)
            )
            reasons = (why(search.program, caller.function, argument) for argument in given)
            reason = next((one for one in reasons if one.level == "varying"), None)
            if reason is not None:
                text = without_comment(at.module.lines[cache.lineno - 1].strip())
                story = f"{place.function.name} ran on {ranks_in_words(side)}, and its result was remembered elsewhere."
                at = SourcePlace(at.path, at.module, at.function, cache.lineno)
                return FoundLine(at, cache.lineno, text, reason, divergence, kind="remembered", story=story)
    return None


def _asked_first(search: Search, place: SourcePlace, path: CallPath, depth: int) -> ast.If | None:
    """The test of a decorator of the program by which it runs the function, or has its answer already."""
    wrapper = search.places.find(path[depth - 1])
    if wrapper is None or wrapped_by(search, place.function, path[depth - 1]) is None:
        return None
    for node in ast.walk(wrapper.function.node):
        if not isinstance(node, ast.If) or not isinstance(node.test, ast.Compare) or len(node.test.ops) != 1:
            continue
        kept = text_of(node.test.comparators[0])
        items = {
            text_of(n.value) for part in node.body for n in ast.walk(part) if isinstance(n, ast.Subscript)
        }
        new = isinstance(node.test.ops[0], ast.NotIn) and any(spans(s, wrapper.line) for s in node.body)
        had = isinstance(node.test.ops[0], ast.In) and isinstance(node.body[-1], ast.Return)
        if kept in items and (new or (had and (node.end_lineno or node.lineno) < wrapper.line)):
            return node
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
