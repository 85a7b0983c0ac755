"""What of a function may become part of the loss: what it gives back, or goes backward from, and what that is made
from. What is counted or written beside it has no part in the graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.source.dependence.syntax import dotted
from rankandfile.source.program.called import called_name
from rankandfile.source.program.kept import kept
from rankandfile.source.program.modules import Function
from rankandfile.source.program.scopes import own_nodes, returned_values

from .changed import ADDS

_SWITCHES = ("no_grad", "inference_mode", "set_grad_enabled", "enable_grad")


@kept
def of_the_loss(function: Function) -> frozenset[ast.AST]:
    """All that is written in it and may become part of the loss; what switches gradients off and on as well."""
    nodes = [*own_nodes(function)]
    queue: list[ast.expr] = [*returned_values(function)]
    for node in nodes:
        if isinstance(node, ast.Call) and called_name(node) == "backward":
            queue += [*node.args, *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
    set_to = [one for node in nodes for one in _set(node)]
    found: set[ast.AST] = {
        node for node in nodes if isinstance(node, ast.Call) and called_name(node) in _SWITCHES
    }
    names: set[str] = set()
    while queue:
        parts = [part for part in ast.walk(queue.pop()) if part not in found]
        found.update(parts)
        new = {name for part in parts if isinstance(part, ast.expr) and (name := dotted(part))} - names
        names |= new
        queue += [value for name, value in set_to if name in new]
    return frozenset(found)


def _set(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Names, and what they are set to, or what is put into them."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((name, value) for target in targets for name in _names(target))
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield from ((name, value) for name in _names(target))
        case ast.AugAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
            yield from ((name, value) for name in _names(target))
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
            yield from ((name, value) for name in _names(target))
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
            yield from ((name, value) for name in _names(target))
        case ast.Call(func=ast.Attribute(value=receiver, attr=attr), args=args):
            if attr in ADDS or attr.endswith("_"):
                yield from ((name, value) for name in _names(receiver) for value in args)


def _names(target: ast.expr) -> Iterator[str]:
    for part in ast.walk(target):
        name = dotted(part) if isinstance(part, (ast.Name, ast.Attribute)) else None
        if name is not None and name != "self":
            yield name
