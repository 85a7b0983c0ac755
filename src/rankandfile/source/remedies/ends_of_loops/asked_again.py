"""Whether what ends a loop on a rank is asked for again behind it: cut to one number of rounds, the ranks would go
different ways there.

`for x in notice.while_welcome(batches): ...` ends where `notice.given` is set, and so may `if notice.given: break`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.source.dependence.index import index_of
from rankandfile.source.program.modules import Function
from rankandfile.source.program.scopes import own_nodes
from rankandfile.source.remedies.place_to_mend import PlaceToMend


def asked_again(place: PlaceToMend, loop: ast.For) -> ast.Attribute | None:
    """Where behind the loop an attribute is read upon which a generator that it goes over gives up."""
    called = {
        part.func.attr
        for part in ast.walk(loop.iter)
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute)
    }
    flags = {
        flag
        for module in index_of(place.code.program).modules
        for function in module.functions
        if function.name in called
        for flag in _gives_up_upon(function)
    }
    behind = (
        node
        for node in own_nodes(place.in_program)
        if isinstance(node, ast.Attribute) and node.lineno > (loop.end_lineno or loop.lineno)
    )
    return next((n for n in behind if n.attr in flags and isinstance(n.ctx, ast.Load)), None)


def _gives_up_upon(function: Function) -> Iterator[str]:
    """Attributes of its own object that a generator asks for before it returns."""
    nodes = [*own_nodes(function)]
    if not any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in nodes):
        return
    for node in nodes:
        if isinstance(node, ast.If) and isinstance(node.body[-1], (ast.Return, ast.Break)):
            for part in ast.walk(node.test):
                if (
                    isinstance(part, ast.Attribute)
                    and isinstance(part.value, ast.Name)
                    and part.value.id == "self"
                ):
                    yield part.attr
