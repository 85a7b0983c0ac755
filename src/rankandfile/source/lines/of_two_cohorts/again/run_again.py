"""A decorator ran a function once more: `@retry(attempts=3)` above a function that makes collectives.

One rank went out of the function and into it again, out of the same frame of a wrapper, which is the decorator's own or
that of a library. What the wrapper tests is the same for all functions; that this one is tried again is said above it,
unless by a bare name, which does not say upon what.
"""

from __future__ import annotations

import ast
from itertools import permutations

from msgspec.structs import replace

from rankandfile.model.heuristics import heuristic
from rankandfile.model.known.frameworks import framework_of
from rankandfile.source.dependence import Reason
from rankandfile.source.dependence.syntax import spans
from rankandfile.source.lines.branchings import Branching
from rankandfile.source.lines.call_paths import CallPath, Frame, Stop, first_unlike
from rankandfile.source.lines.conditions_between import conditions_of
from rankandfile.source.lines.divergence import CodeDivergence, Side, ranks_in_words
from rankandfile.source.lines.exception_origin import handlers_around
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.lines.reachability import Reachability
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class, External, resolve
from rankandfile.source.program.places import SourcePlace, in_loop, place_in


@heuristic("run again by a wrapper", "a function that a wrapper ran again is tried again by its decorator")
def run_again(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """The decorator of the function into which one side came again, while the other went on."""
    ways = [divergence]
    if not divergence.settled:
        # Whoever went into the function again is out of line, whichever of the two that is.
        ways = [
            replace(divergence, settled=True, normal=a, culprit=b)
            for a, b in permutations(_sides(divergence))
        ]
    return next((found for way in ways if (found := _again(search, way)) is not None), None)


def _sides(divergence: CodeDivergence) -> tuple[Side, Side]:
    return divergence.normal, divergence.culprit


def _again(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    before, again, on = divergence.before, divergence.culprit.path, divergence.normal.path
    if not again or not on:
        return None
    diverged_at, reachability = first_unlike(before, on) or 0, Reachability(search.places)
    if diverged_at >= len(before):
        return None
    # It may as well have come round without what the others did: then only a wrapper that tries again comes before.
    around = reachability.comes_round(before[diverged_at], on[diverged_at].line)
    for depth in range(len(before) - 1, 0, -1):
        if depth < diverged_at and reachability.loops(on[depth], on[depth + 1].function):
            # A loop in between brought it round: nothing was run again.
            return None
        # The function is left, and entered from the same line of what is around it.
        if before[:depth] != again[:depth] or before[depth][:2] != again[depth][:2]:
            continue
        place = search.places.find(before[depth])
        if place is None or not place.known:
            continue
        decorator = wrapped_by(search, place.function, before[depth - 1])
        tries = _tries_again(search, before[depth - 1])
        if decorator is None or tries is False or (around and tries is None):
            continue
        return _found(search, divergence, before, depth, place, decorator)
    return None


def of_decorator(search: Search, divergence: CodeDivergence, depth: int) -> FoundLine | None:
    """The decorator above the function of this frame of the culprit's, if its wrapper is the frame outside."""
    path = divergence.culprit.path
    place = search.places.find(path[depth]) if 0 < depth < len(path) else None
    if place is None or not place.known:
        return None
    decorator = wrapped_by(search, place.function, path[depth - 1])
    return None if decorator is None else _found(search, divergence, path, depth, place, decorator)


def _found(
    search: Search,
    divergence: CodeDivergence,
    path: CallPath,
    depth: int,
    place: SourcePlace,
    decorator: ast.expr,
) -> FoundLine:
    text = place.module.code_at(decorator.lineno)
    story = f"Its decorator ran {place.function.name} once more on {ranks_in_words(divergence.culprit)}."
    reason = _raised_in(search, place, path[depth], len(path) - 1 == depth)
    at, line = place_in(place.function, decorator.lineno), decorator.lineno
    wrapper = search.places.find(path[depth - 1])
    if not isinstance(decorator, ast.Call) and wrapper is not None and wrapper.known:
        # What is bare says nothing of when it tries again: the one handler in its wrapper does.
        handlers = handlers_around(wrapper)
        if len(handlers) == 1:
            at, line = wrapper, handlers[0].lineno
            text = wrapper.module.code_at(line)
    return FoundLine(at, line, text, reason, divergence, kind="again", story=story)


def _tries_again(search: Search, wrapper: Frame) -> bool | None:
    """Whether it calls what it wraps in a loop, or in two places; None: it is no code of the program."""
    place = search.places.find(wrapper)
    if place is None or not place.known:
        return None
    made = [node for node in place.function.nodes if isinstance(node, ast.Call)]
    here = {ast.unparse(call.func) for call in made if spans(call, wrapper.line)}
    return in_loop(place) or any(sum(ast.unparse(call.func) == name for call in made) > 1 for name in here)


def wrapped_by(search: Search, function: Function, wrapper: Frame) -> ast.expr | None:
    """The decorator of the function to which the wrapper's frame belongs."""
    node = function.node
    if isinstance(node, (ast.Module, ast.Lambda)):
        return None
    inside = search.places.find(wrapper)
    framework = framework_of(wrapper.file)
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        target = resolve(function.parent or function, called)
        if (
            isinstance(target, External)
            and framework is not None
            and target.dotted.startswith(f"{framework}.")
        ):
            return decorator
        if isinstance(target, (Class, Function)) and inside is not None and inside.known:
            name = target.name if isinstance(target, Class) else f"{target.qualname}.<locals>"
            if inside.module is target.module and inside.function.qualname.startswith(f"{name}."):
                return decorator
    return None


def _raised_in(search: Search, place: SourcePlace, frame: Frame, innermost: bool) -> Reason | None:
    """Why the function may have raised on one rank, behind the call that all of them made in it."""
    called = None if innermost else ""
    left = Branching(frame, Stop(frame.line, called or None), Stop(place.function.last_line), "end", 0, 0, ())
    calls = sorted(conditions_of(place.function, left, raising=True), key=lambda condition: condition.line)
    reasons = (search.why(place.function, condition) for condition in calls)
    return next((reason for reason in reasons if reason.level == "varying"), None)
