"""Calls of a generator that a `for` goes over: its code runs when the loop asks for an item, not where it is called."""

from __future__ import annotations

import ast

from rankandfile.source.program.called import called_name
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class, enclosing_class, method, resolve
from rankandfile.source.program.scopes import own_nodes

#: What asks for one item at a time, too.
_PASSES_ON = {"enumerate", "zip", "iter", "islice", "map", "filter", "tqdm"}


def runs_as_asked(function: Function, call: ast.AST | None) -> bool:
    """Whether it is such a call in the function."""
    if not isinstance(call, ast.Call):
        return False
    loops = (node for node in function.nodes if isinstance(node, (ast.For, ast.AsyncFor)))
    return any(_asks(loop.iter, call) for loop in loops) and _makes_a_generator(function, call)


def _asks(items: ast.expr, call: ast.Call) -> bool:
    if items is call:
        return True
    if not isinstance(items, ast.Call) or called_name(items) not in _PASSES_ON:
        return False
    return any(_asks(one, call) for one in items.args)


def _makes_a_generator(function: Function, call: ast.Call) -> bool:
    made: object = resolve(function, call.func)
    if made is None and isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "self":
        owner = enclosing_class(function)
        made = method(owner, call.func.attr) if isinstance(owner, Class) else None
    return isinstance(made, Function) and any(
        isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own_nodes(made)
    )
