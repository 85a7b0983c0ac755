"""A function that keeps its answers runs only for arguments that are new to the process: a rank that had asked it
before goes on without the call inside, in which the others wait."""

from __future__ import annotations

import ast

from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence import Reason, why
from rankandfile.source.lines.arguments import called_name, calls_on
from rankandfile.source.lines.call_paths import Stop
from rankandfile.source.lines.divergence import CodeDivergence, ranks_in_words
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.lines.of_two_cohorts.two_ways import branchings_of
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import External, resolve
from rankandfile.source.program.places import SourcePlace, place_in

_KEEPS = {"functools.lru_cache", "functools.cache", "cachetools.cached", "cachetools.func.lru_cache"}


@heuristic(
    "answered before", "a function that keeps its answers was not run for what it had been asked before"
)
def answered_before(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """The decorator by which it keeps them, where it was asked for what can differ between ranks."""
    ways = branchings_of(search, divergence)
    sure = {way.frame for way in ways if not way.guessed}
    for branching in ways:
        outer, place = branching.outer[-1:], search.places.find(branching.frame)
        if branching.after is not None or branching.culprit != "end" or not {*outer} & sure:
            continue
        keeps = _keeper(place.function) if place is not None and place.known else None
        if place is None or keeps is None:
            continue
        reason = _asked_for(search, search.places.find(outer[0]), place.function)
        if reason is None or reason.level == "uniform":
            continue
        text = place.module.code_at(keeps.lineno)
        story = (
            f"{place.function.name} keeps what it answered, and is not run for what it was asked before: on "
            f"{ranks_in_words(divergence.culprit)} it need not have run."
        )
        at = place_in(place.function, keeps.lineno)
        return FoundLine(at, keeps.lineno, text, reason, divergence, kind="kept", story=story)
    return None


def _keeper(function: Function) -> ast.expr | None:
    """The decorator that lets it run once for each argument."""
    for decorator in getattr(function.node, "decorator_list", ()):
        name = decorator.func if isinstance(decorator, ast.Call) else decorator
        scope = function.parent or function
        target = resolve(scope, name)
        if isinstance(target, External) and target.dotted in _KEEPS:
            return decorator if isinstance(decorator, ast.expr) else None
    return None


def _asked_for(search: Search, caller: SourcePlace | None, function: Function) -> Reason | None:
    """Why what the function is called with there can differ: the argument of which most is known."""
    if caller is None or not caller.known:
        return None
    calls = [c for c in calls_on(caller, Stop(caller.line, function.name)) if called_name(c) == function.name]
    given = [argument for call in calls for argument in (*call.args, *(k.value for k in call.keywords))]
    reasons = [why(search.program, caller.function, each) for each in given]
    levels = {"varying": 0, "axes": 1, "unknown": 2, "uniform": 3}
    return min(reasons, key=lambda one: levels[one.level], default=None)
