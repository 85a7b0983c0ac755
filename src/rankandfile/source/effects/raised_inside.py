"""Exceptions that come out of a function which issues collectives, and are swallowed: whoever raised has issued some of
them, or none, and goes on, or begins again.

In: a function with a handler around a call. Out: the divergences at the steps inside that can raise on one rank alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rankandfile.source.dependence import why_raised
from rankandfile.source.dependence.frame import Frame, called
from rankandfile.source.flow.build import graph_of
from rankandfile.source.flow.exceptions import Caught
from rankandfile.source.flow.graph import RAISED, Graph, Node
from rankandfile.source.flow.joins import common
from rankandfile.source.program.modules import Function

from .divergence import PossibleDivergence
from .handed import wrappers_of
from .handlers import Handler, handlers
from .loud import Runs
from .roles import BOTH
from .sequences import Open, Sequences

if TYPE_CHECKING:
    from .divergences import PossibleDivergences

_MOST_STEPS = 12
_DEEPEST = 2


def caught_from_inside(
    divergences: PossibleDivergences, function: Function, graph: Graph, behind: dict[Node, Node]
) -> Iterator[PossibleDivergence]:
    for node in graph.nodes:
        runs = (
            [e for e in divergences.effects.of.get(node.what, ()) if isinstance(e, Runs)] if node.what else []
        )
        for handler in handlers(node) if runs else ():
            for number, effect in enumerate(runs):
                inside: Open = ((function, node, number, effect.call),)
                taken = _taken(handler, function, effect.target)
                for where, step, calls in _steps(divergences, effect.target, inside):
                    found = _divergence(
                        divergences, function, behind, node, handler, taken, where, step, calls
                    )
                    if found is not None:
                        yield found
                        break


def _divergence(
    divergences: PossibleDivergences,
    function: Function,
    behind: dict[Node, Node],
    node: Node,
    handler: Handler,
    taken: Caught,
    where: Function,
    step: Node,
    calls: Open,
) -> PossibleDivergence | None:
    calm = [follower for outcome, follower in node.edges if outcome != RAISED]
    end = common(behind, [*calm, handler.entry])
    around = _loops_around(function, node)

    def ways(asked: Function, decision: Node, open_: Open) -> frozenset[str]:
        # Who tries again has tries left: the last one is no other case.
        again = (
            asked is function and not open_ and id(decision.decision and decision.decision.owner) in around
        )
        return frozenset({"true"}) if again else BOTH

    walls = frozenset() if end is None else frozenset({end})
    walk = Sequences(divergences.effects, function, walls, divergences.group_of, ways)
    starts = {
        True: frozenset(walk.at(where, f, calls) for outcome, f in step.edges if outcome != RAISED),
        False: walk.start([handler.entry]),
    }
    assert step.what is not None
    for group, event, on_the_way, when, instead in divergences.unlike(walk, starts):
        reason = why_raised(divergences.program, where, step.what, taken)
        if reason.level not in ("axes", "varying"):
            return None
        condition = handler.condition(function, step.what)
        leaving = divergences.last(handler.body) or "caught"
        return PossibleDivergence(
            function,
            condition,
            handler.owner,
            event,
            on_the_way,
            when,
            leaving,
            group,
            instead,
            node,
            known=reason,
        )
    return None


def _steps(
    divergences: PossibleDivergences, function: Function, calls: Open
) -> Iterator[tuple[Function, Node, Open]]:
    """Steps without collectives that may raise past the function."""
    tried = 0
    for node in graph_of(function).nodes:
        if not isinstance(node.what, ast.Call) or handlers(node):
            continue
        effects = divergences.effects.of.get(node.what, ())
        if not effects and tried < _MOST_STEPS:
            tried += 1
            yield function, node, calls
        for number, effect in enumerate(effects):
            if isinstance(effect, Runs) and len(calls) < _DEEPEST and effect.target is not function:
                yield from _steps(divergences, effect.target, (*calls, (function, node, number, effect.call)))


def _taken(handler: Handler, function: Function, target: Function) -> Caught:
    """What the handler takes; where a decorator was told, what it was told."""
    taken = handler.caught
    if not isinstance(taken, ast.Name):
        return Caught(function, taken)
    for wrapper in wrappers_of(target):
        if wrapper.inside is function and wrapper.made_by is not None:
            given = called(wrapper.maker, wrapper.made_by, Frame(function), bound=False).given or {}
            if taken.id in given:
                return Caught(target.parent or target.module.functions[0], given[taken.id].value)
            return Caught(wrapper.maker, wrapper.maker.defaults.get(taken.id, taken))
    return Caught(function, taken)


def _loops_around(function: Function, node: Node) -> set[int]:
    """Loops whose body the step stands in."""
    loops = [n for n in function.nodes if isinstance(n, (ast.For, ast.While))]
    return {id(loop) for loop in loops if any(part is node.what for s in loop.body for part in ast.walk(s))}
