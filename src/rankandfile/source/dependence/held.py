"""Which keys a container has: what is stored under, and what decides whether it is stored at all.

In: an expression that names a container of long life. Out: how that differs between ranks.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from rankandfile.source.flow.deciding import between_nodes
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import enclosing_class
from rankandfile.source.program.scopes import binding_scope

from . import control
from .assignments import Definition
from .counted import on_the_way
from .frame import Frame
from .reaching_assignments import reaching
from .syntax import HOLDS, dotted
from .value import Link, Value, join

if TYPE_CHECKING:
    from .evaluate import Evaluator

_ALWAYS = ("__init__", "<module>", "setup", "__post_init__")
_MOST_DECISIONS = 24


def held(ev: Evaluator, container: ast.expr, frame: Frame) -> Value:
    value = ev.value(container, frame, (HOLDS,))
    return value if value.differs else join([value, *_decided(ev, container, frame)])


def _decided(ev: Evaluator, container: ast.expr, frame: Frame) -> Iterator[Value]:
    for function, d in _stores(ev, container, frame.function):
        if function.name in _ALWAYS or d.how != "mutate" or d.key is None:
            continue
        inside = Frame(function)
        graph = reaching(function).graph
        own = between_nodes(function, {d.node}, {graph.returns, graph.raises}, [graph.entry])
        decisions = [(condition, inside) for condition in own if condition.kind != "call"]
        for condition, where in islice((*decisions, *on_the_way(ev, inside)), _MOST_DECISIONS):
            value = control.of_condition(ev, condition, where)
            if value.differs:
                file, place = function.module.path, f"{where.function.module.path}:{condition.line}"
                words = f"is given an item under a key at {file}:{d.line} or not: `{condition.text}` decides ({place})"
                yield value.by(Link(file, d.line, d.name, words, condition.text))


def _stores(ev: Evaluator, container: ast.expr, function: Function) -> Iterator[tuple[Function, Definition]]:
    name = dotted(container)
    if name is None:
        return
    owner = enclosing_class(function)
    if isinstance(container, ast.Attribute) and name == f"self.{container.attr}" and owner is not None:
        yield from ev.objects.stores(owner, container.attr)
    elif isinstance(container, ast.Name):
        scope = binding_scope(function, name)
        if scope is not None and isinstance(scope.node, ast.Module):
            for each in scope.module.functions:
                if binding_scope(each, name) is scope:
                    yield from ((each, d) for d in reaching(each).everywhere(name))
