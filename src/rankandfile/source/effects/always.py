"""Whether a piece of syntax issues a collective whichever way it goes: in its own words, or in the functions it runs.

`classifier.spread() > 1e-3` does where `spread` begins with an all_reduce; what a callee does under a test, in a loop
or behind an early return, it may leave out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.source.program.modules import Function

from .event import Event
from .loud import Effects, Runs

_MOST_DEEP = 4
#: In these, some of the parts are not come to; and a nested function is not run where it is written.
_PERHAPS = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, getattr(ast, "TryStar", ast.Try), ast.Match, ast.IfExp,
    ast.BoolOp, ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ListComp, ast.SetComp,
    ast.DictComp, ast.GeneratorExp, ast.Assert,
)  # fmt: skip
_LEAVES = (ast.Return, ast.Raise, ast.Yield, ast.YieldFrom)


def always_issues(effects: Effects, node: ast.AST, deep: int = 0) -> bool:
    """Of a test, its first part is always asked."""
    first = node.values[0] if isinstance(node, ast.BoolOp) else node
    return any(_issues(effects, part, deep) for part in _always(first))


def _always(node: ast.AST) -> Iterator[ast.AST]:
    """The parts that are come to whichever way it goes."""
    yield node
    for part in ast.iter_child_nodes(node):
        if not isinstance(part, _PERHAPS):
            yield from _always(part)


def _issues(effects: Effects, node: ast.AST, deep: int) -> bool:
    for effect in effects.of.get(node, ()):
        if isinstance(effect, Event) and effect.sure and effect.group is None:
            return True
        if isinstance(effect, Runs) and deep < _MOST_DEEP and _in_function(effects, effect.target, deep + 1):
            return True
    return False


def _in_function(effects: Effects, function: Function, deep: int) -> bool:
    body = getattr(function.node, "body", None)
    for statement in body if isinstance(body, list) else ():
        if isinstance(statement, _PERHAPS):
            if any(isinstance(part, _LEAVES) for part in ast.walk(statement)):
                return False
        elif always_issues(effects, statement, deep):
            return True
        elif isinstance(statement, _LEAVES):
            return False
    return False
