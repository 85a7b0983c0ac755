"""Whether a piece of syntax issues a collective whichever way it goes: in its own words, or in the functions it runs.

`classifier.spread() > 1e-3` does where `spread` begins with an all_reduce; what a callee does under a test, in a loop
or behind an early return, it may leave out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import enclosing_class
from rankandfile.source.program.scopes import own_nodes

from .event import Event
from .loud import Effect, Effects, Runs

_MOST_DEEP = 4
#: In these, some of the parts are not come to; and a nested function is not run where it is written.
_PERHAPS = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, getattr(ast, "TryStar", ast.Try), ast.Match, ast.IfExp,
    ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp, ast.Assert,
)  # fmt: skip
_LEAVES = (ast.Return, ast.Raise)
_HANDS_OUT = (ast.Yield, ast.YieldFrom, ast.Await)


def always_issues(effects: Effects, node: ast.AST, deep: int = 0) -> bool:
    return any(_issues(effects, part, deep) for part in _always(node))


def _always(node: ast.AST) -> Iterator[ast.AST]:
    """The parts that are come to whichever way it goes: of a row of tests, the first."""
    yield node
    parts: Iterable[ast.AST] = ast.iter_child_nodes(node)
    if isinstance(node, ast.BoolOp):
        parts = node.values[:1]
    elif isinstance(node, ast.Compare):
        parts = (node.left, node.comparators[0])
    for part in parts:
        if not isinstance(part, _PERHAPS):
            yield from _always(part)


def _issues(effects: Effects, node: ast.AST, deep: int) -> bool:
    """Whether each of the things that a call may do issues one: of methods of one name, that of each class."""
    found = effects.of.get(node, ())
    return bool(found) and all(_is_one(effects, effect, deep) for effect in found)


def _is_one(effects: Effects, effect: Effect, deep: int) -> bool:
    if isinstance(effect, Event):
        return effect.sure and effect.group is None and not _starred(effect.site)
    return isinstance(effect, Runs) and deep < _MOST_DEEP and _in_function(effects, effect.target, deep + 1)


def _starred(site: ast.expr) -> bool:
    """Which group it is made on, what is handed over may say."""
    return isinstance(site, ast.Call) and (
        any(isinstance(one, ast.Starred) for one in site.args)
        or any(one.arg is None for one in site.keywords)
    )


def _in_function(effects: Effects, function: Function, deep: int) -> bool:
    node = function.node
    if (
        not isinstance(node, ast.FunctionDef)
        or node.decorator_list
        or _is_another_elsewhere(effects, function)
    ):
        # What wraps it may not come to it.
        return False
    if any(isinstance(part, _HANDS_OUT) for part in own_nodes(function)):
        # To call it does not run it to its end.
        return False
    for statement in node.body:
        leaves = any(isinstance(part, _LEAVES) for part in ast.walk(statement))
        if not isinstance(statement, _PERHAPS) and always_issues(effects, statement, deep):
            # Behind a return in a block of its own, it may not be come to.
            return isinstance(statement, _LEAVES) or not leaves
        if leaves:
            return False
    return False


def _is_another_elsewhere(effects: Effects, function: Function) -> bool:
    """Whether another class has a method of its name: an object may be of that one."""
    if enclosing_class(function) is None:
        return False
    alike = (
        other for module in effects.index.modules for other in module.functions if other.name == function.name
    )
    return any(other is not function and enclosing_class(other) is not None for other in alike)
