"""What an object of a library counts: how often this rank called one of its methods, or whether it did at all.

In: an attribute of such an object, and the methods that count on it. Out: what decides whether ranks call them.
"""

from __future__ import annotations

import ast
from itertools import islice
from typing import TYPE_CHECKING

from rankandfile.source.flow.deciding import between_nodes

from . import control, counted
from .frame import Frame
from .reaching_assignments import reaching
from .syntax import text
from .value import UNKNOWN, Link, Value, join

if TYPE_CHECKING:
    from .evaluate import Evaluator

_MOST = 32


def how_often(ev: Evaluator, e: ast.Attribute, methods: tuple[str, ...]) -> Value:
    """What an object of a library counts: by all that decides whether one of these methods is called, on whatever may
    be such an object."""
    found: list[Value] = []
    for name in methods:
        for site in islice(ev.index.calls(name), _MOST):
            frame = Frame(site.function)
            called = site.call.func
            if not isinstance(called, ast.Attribute) or ev.objects.classes(called.value, frame):
                continue
            graph = reaching(site.function).graph
            here = set(reaching(site.function).nodes(site.node))
            inside = between_nodes(site.function, here, {graph.returns, graph.raises}, [graph.entry])
            chosen = [(c, frame) for c in inside if c.kind not in counted.NO_CHOICE]
            for condition, outer in islice((*chosen, *counted.on_the_way(ev, frame)), _MOST):
                value = control.of_condition(ev, condition, outer)
                file, where = site.function.module.path, outer.function.module.path
                words = (
                    f"is counted on at {file}:{site.call.lineno} or not, as `{condition.text}` decides "
                    f"({where}:{condition.line})"
                )
                link = Link(where, condition.line, text(e), words, condition.text)
                found.append(value.by(link) if value.differs else value)
    return join(found) if found else UNKNOWN
