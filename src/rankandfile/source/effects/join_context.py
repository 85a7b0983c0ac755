"""`with Join([model]):` and its like: whoever has no batch left answers the others' collectives with shadow calls."""

from __future__ import annotations

import ast

from rankandfile.source.dependence.syntax import ancestors
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import External, resolve

from .divergence import PossibleDivergence
from .event import BACKWARD, FORWARD

_JOIN = "torch.distributed.algorithms.join.Join"
_METHODS = {"join", "join_uneven_inputs"}
_MADE_UP = {FORWARD, BACKWARD, "step"}


def is_joined(divergence: PossibleDivergence) -> bool:
    """The decision stands in such a block, and what is missing is a collective that it makes up for."""
    if divergence.event.op not in _MADE_UP:
        return False
    around = ancestors(divergence.function.module, divergence.owner)
    blocks = (each for each in around if isinstance(each, (ast.With, ast.AsyncWith)))
    return any(_joins(item.context_expr, divergence.function) for block in blocks for item in block.items)


def _joins(manager: ast.expr, function: Function) -> bool:
    if not isinstance(manager, ast.Call):
        return False
    target = resolve(function, manager.func)
    if isinstance(target, External):
        return target.dotted == _JOIN
    return isinstance(manager.func, ast.Attribute) and manager.func.attr in _METHODS
