"""A lock, or a place among few, that a coroutine takes and gives back: on every way, or only where nothing raises."""

from __future__ import annotations

import ast

from rankandfile.source.dependence.syntax import ancestors, text
from rankandfile.source.program.called import called_name
from rankandfile.source.program.modules import Function
from rankandfile.source.program.scopes import own_nodes

from .waits import Chain, Step

_OF_OBJECTS = {"__aenter__", "__aexit__", "__anext__"}
"""What a block or a loop calls of its object."""


def only_wait_of(step: Step) -> bool:
    """Whether the function of the step does nothing but wait there."""
    node = step.function.node
    if not isinstance(node, ast.AsyncFunctionDef) or not isinstance(step.node, ast.Await):
        return False
    body = [s for s in node.body if not _is_text(s) and not _returns_itself(s)]
    return len(body) == 1 and isinstance(body[0], (ast.Expr, ast.Return)) and body[0].value is step.node


def calls(step: Step, function: Function) -> bool:
    """Whether the step is a call of the function, or a block or a loop over its object: no `gather` of several."""
    called = step.node.value if isinstance(step.node, ast.Await) else None
    if step.word != "await":
        return function.name in _OF_OBJECTS
    return isinstance(called, ast.Call) and called_name(called) == function.name


def skipped(chain: Chain, step: Step) -> str:
    """That an exception skips the line that gives back what the step takes; empty where nothing shows that."""
    takes = _acquired(chain[-1])
    if takes is None or not isinstance(step.node, ast.Await) or not isinstance(step.node.value, ast.Call):
        return ""
    called = step.node.value.func
    if not isinstance(called, ast.Attribute):
        return ""
    gives = {"release"} if step is chain[-1] else _givers(chain[-1].function, takes)
    owner, function = ast.dump(called.value), step.function
    backs = [
        node
        for node in own_nodes(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in gives
        and ast.dump(node.func.value) == owner
    ]
    later = [node for node in backs if node.lineno > step.node.lineno]
    if (
        not later
        or any(_on_failure(function, node) for node in backs)
        or not _works(function, step.node, later[0])
    ):
        return ""
    file = function.module.path.rsplit("/", 1)[-1]
    return (
        f"`{text(later[0])}` ({file}:{later[0].lineno}), which gives back what is taken there, is in no `finally`: an "
        "exception before it skips it."
    )


def _acquired(step: Step) -> ast.expr | None:
    """What is acquired: `self._free` of `await self._free.acquire()`."""
    match step.node:
        case ast.Await(value=ast.Call(func=ast.Attribute(attr="acquire", value=owner))):
            return owner
    return None


def _givers(wrapper: Function, takes: ast.expr) -> set[str]:
    """Methods of the wrapper's class that give back what it takes."""
    return {
        function.name
        for function in wrapper.module.functions
        if function.owner is not None and function.owner is wrapper.owner
        for node in own_nodes(function)
        if isinstance(node, ast.Attribute)
        and node.attr == "release"
        and ast.dump(node.value) == ast.dump(takes)
    }


def _on_failure(function: Function, node: ast.AST) -> bool:
    """Whether the node stands in what runs after an exception too."""
    inner = node
    for outer in ancestors(function.module, node):
        if outer is function.node:
            return False
        if isinstance(outer, ast.ExceptHandler) or (isinstance(outer, ast.Try) and inner in outer.finalbody):
            return True
        inner = outer
    return False


def _works(function: Function, taken: ast.expr, back: ast.Call) -> bool:
    """Whether something between the two lines may raise."""
    lines = range((taken.end_lineno or taken.lineno) + 1, back.lineno)
    return any(
        isinstance(node, (ast.Call, ast.Raise)) and node.lineno in lines for node in own_nodes(function)
    )


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _returns_itself(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Return) and isinstance(
        statement.value, (ast.Name, ast.Constant, type(None))
    )
