"""What a function returns on one rank: its statements are gone through, both ways where a test is not known."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rankandfile.source.dependence.frame import Frame
from rankandfile.source.program.modules import Function
from rankandfile.source.program.scopes import own_nodes

from .arithmetic import Values, union

if TYPE_CHECKING:
    from .values import OneRank

_TRANSPARENT = {
    *("staticmethod", "classmethod", "property", "cached_property", "lru_cache", "cache"),
    *("no_grad", "inference_mode", "override", "abstractmethod", "final"),
}
_FIRST_ONLY = {"rank_zero_only"}


def returned(one: OneRank, function: Function, inside: Frame) -> Values:
    """None where the function is a generator, or is not what its body says."""
    node = function.node
    if isinstance(node, ast.Lambda):
        return one.value(node.body, inside)
    if isinstance(node, (ast.Module, ast.AsyncFunctionDef)) or _yields(function):
        return None
    decorators = decorated(node)
    if decorators & _FIRST_ONLY and one.rank != 0:
        return frozenset({None})
    if decorators - _TRANSPARENT - _FIRST_ONLY:
        return None
    found: list[Values] = []
    if _run(one, node.body, inside, found):
        found.append(frozenset({None}))
    return union(found)


def decorated(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The last names of the decorators."""
    targets = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
    return {getattr(t, "attr", "") or getattr(t, "id", "?") for t in targets}


def _run(one: OneRank, body: Sequence[ast.stmt], inside: Frame, found: list[Values]) -> bool:
    """Whether control can come out at the end; what it can return on the way is added to `found`."""
    for s in body:
        if isinstance(s, ast.Return):
            found.append(frozenset({None}) if s.value is None else one.value(s.value, inside))
            return False
        if isinstance(s, (ast.Raise, ast.Break, ast.Continue)):
            return not isinstance(s, ast.Raise)
        if isinstance(s, ast.If):
            ways = one.ways(s.test, inside)
            ends = [
                _run(one, part, inside, found)
                for part, on in ((s.body, True), (s.orelse, False))
                if on in ways
            ]
            if not any(ends):
                return False
        elif isinstance(s, (ast.With, ast.AsyncWith)):
            if not _run(one, s.body, inside, found):
                return False
        else:
            for part in _parts(s):
                _run(one, part, inside, found)
    return True


def _parts(s: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a statement of which it is not known which of them run."""
    if isinstance(s, (ast.For, ast.AsyncFor, ast.While)):
        return [s.body, s.orelse]
    if isinstance(s, ast.Try):
        return [s.body, *(h.body for h in s.handlers), s.orelse, s.finalbody]
    return [case.body for case in s.cases] if isinstance(s, ast.Match) else []


def _yields(function: Function) -> bool:
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own_nodes(function))
