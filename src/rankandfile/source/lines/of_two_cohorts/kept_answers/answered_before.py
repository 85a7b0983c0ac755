"""A function that keeps its answers runs only for arguments that are new to the process: a rank that had asked it
before goes on without the call inside, in which the others wait; or one alone asks for what is new to it.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence import Reason, why
from rankandfile.source.dependence.syntax import dotted
from rankandfile.source.lines.arguments import calls_on
from rankandfile.source.lines.call_paths import Stop
from rankandfile.source.lines.divergence import CodeDivergence, ranks_in_words
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.lines.of_two_cohorts.two_ways import branchings_of
from rankandfile.source.program.called import called_name
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import External, resolve
from rankandfile.source.program.places import SourcePlace, place_in

_KEEPS = {"functools.lru_cache", "functools.cache", "cachetools.cached", "cachetools.func.lru_cache"}


class _Keeper(NamedTuple):
    """What lets a function run only once for each argument."""

    said: ast.expr
    function: Function
    """In which that is written, or which it is above."""
    name: str
    """By which the function is called so."""


@heuristic(
    "answered before", "a function that keeps its answers was not run for what it had been asked before"
)
def answered_before(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """What keeps them, a decorator or a call, where the function was asked for what can differ between ranks."""
    ways = branchings_of(search, divergence)
    sure = {way.frame for way in ways if not way.guessed}
    for branching in ways:
        outer, place = branching.outer[-1:], search.places.find(branching.frame)
        if branching.after is not None or not {*outer} & sure or place is None or not place.known:
            continue
        if branching.culprit == "end":
            ran, spared = divergence.normal, divergence.culprit
        elif branching.normal == "end" and divergence.settled:
            ran, spared = divergence.culprit, divergence.normal
        else:
            continue
        keeps = _decorated(place.function) or _wrapped(place.function)
        if keeps is None:
            continue
        reason = _asked_for(search, search.places.find(outer[0]), keeps.name)
        if reason is None or reason.level == "uniform":
            continue
        line = keeps.said.lineno
        at, text = place_in(keeps.function, line), place.module.code_at(line)
        story = (
            f"{place.function.name} keeps what it answered, and is not run for what it was asked before: on "
            f"{ranks_in_words(spared)} it need not have run."
        )
        return FoundLine(at, line, text, reason, divergence, kind="kept", story=story, singled=ran.members)
    return None


def _decorated(function: Function) -> _Keeper | None:
    for decorator in getattr(function.node, "decorator_list", ()):
        if isinstance(decorator, ast.expr) and _keeps(function.parent or function, decorator):
            return _Keeper(decorator, function, function.name)
    return None


def _wrapped(function: Function) -> _Keeper | None:
    """`self.of = lru_cache(maxsize=8)(self._estimate)`, in a method of its class or anywhere in its module."""
    for maker in function.module.functions:
        for node in maker.nodes:
            if not isinstance(node, ast.Assign) or len(node.targets) != 1:
                continue
            call, target = node.value, node.targets[0]
            given = isinstance(call, ast.Call) and len(call.args) == 1 and _keeps(maker, call.func)
            if given and isinstance(call, ast.Call) and _is(maker, call.args[0], function):
                name = dotted(target)
                return _Keeper(call, maker, name.rpartition(".")[2]) if name is not None else None
    return None


def _keeps(scope: Function, said: ast.expr) -> bool:
    target = resolve(scope, said.func if isinstance(said, ast.Call) else said)
    return isinstance(target, External) and target.dotted in _KEEPS


def _is(scope: Function, value: ast.expr, function: Function) -> bool:
    """Whether the name stands for the function: a method by the object's own name for itself."""
    if isinstance(value, ast.Attribute):
        own = isinstance(value.value, ast.Name) and value.value.id in scope.parameters[:1]
        return (
            own
            and function.owner is not None
            and scope.owner is function.owner
            and value.attr == function.name
        )
    return resolve(scope, value) is function


def _asked_for(search: Search, caller: SourcePlace | None, name: str) -> Reason | None:
    """Why what the function is called with there can differ: the argument of which most is known."""
    if caller is None or not caller.known:
        return None
    calls = [c for c in calls_on(caller, Stop(caller.line, name)) if called_name(c) == name]
    given = [argument for call in calls for argument in (*call.args, *(k.value for k in call.keywords))]
    reasons = [why(search.program, caller.function, each) for each in given]
    levels = {"varying": 0, "axes": 1, "unknown": 2, "uniform": 3}
    return min(reasons, key=lambda one: levels[one.level], default=None)
