"""The calls that a decorator's own function stands in for: `save(x)`, where `@only_main` put its `inner` in the place
of `save`, calls `inner` with what stands there."""

from __future__ import annotations

import ast
from itertools import islice
from typing import TYPE_CHECKING

from rankandfile.source.dependence.index import MOST_SITES
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import resolve
from rankandfile.source.program.scopes import returned_values

if TYPE_CHECKING:
    from rankandfile.source.dependence.objects import Objects


def stands_in_for(objects: Objects, inner: Function) -> list[Function]:
    """The functions in whose place a decorator of the program puts this one."""
    maker = inner.parent
    if maker is None or not isinstance(maker.node, ast.FunctionDef) or not _returns(maker, inner):
        return []
    # Of `@only(main)`, the call returns the decorator.
    told = maker.parent if maker.parent is not None and _returns(maker.parent, maker) else None
    found = (
        function
        for module in objects.index.modules
        for function in (module.functions if "@" in module.text else ())
        if function is not inner and any(_is(function, d, maker, told) for d in _decorators(function))
    )
    return list(islice(found, MOST_SITES))


def _decorators(function: Function) -> list[ast.expr]:
    node = function.node
    return [] if isinstance(node, (ast.Module, ast.Lambda)) else node.decorator_list


def _is(function: Function, decorator: ast.expr, maker: Function, told: Function | None) -> bool:
    if function.parent is None:
        return False
    if isinstance(decorator, ast.Call):
        return told is not None and resolve(function.parent, decorator.func) is told
    return resolve(function.parent, decorator) is maker


def _returns(outer: Function, inner: Function) -> bool:
    return any(resolve(outer, value) is inner for value in returned_values(outer))
