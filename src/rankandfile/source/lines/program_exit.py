"""Where a program ends itself: the line that exits, and the condition upon which it does."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.model.heuristics import heuristic
from rankandfile.source.flow import Condition, deciding
from rankandfile.source.program.modules import Function, Program

MOST_FILES = 2_000
_EXITS = {"sys.exit", "os._exit", "exit", "quit", "os.abort"}


@heuristic("the only exit", "a rank that left with a code did so at the only line that exits with it")
def exit_of(program: Program, code: int | None) -> tuple[Function, ast.stmt, Condition | None] | None:
    """The one place of the tree that ends the process with this code; None if there are several, or none."""
    found = [
        (function, statement, given)
        for path in program.paths[:MOST_FILES]
        if (text := program.files.read(path)) is not None and ("exit" in text or "SystemExit" in text)
        if (module := program.module(path)) is not None
        for function in module.functions
        if not isinstance(function.node, ast.Lambda)
        for statement, given in exits_in(function)
    ]
    certain = [one for one in found if one[2] is not None and one[2] == code]
    open_ones = [one for one in found if one[2] is None]
    candidates = certain or open_ones
    if len(candidates) != 1:
        return None
    function, statement, _ = candidates[0]
    conditions = deciding(function, statement.lineno, "return")
    return function, statement, conditions[0] if conditions else None


def exits_in(function: Function) -> Iterator[tuple[ast.stmt, int | None]]:
    """Statements of this function, not of those inside it, and the code each exits with, where it is written there."""
    guarded = _guarded(function)
    for node in _own(function.node):
        call = node.value if isinstance(node, ast.Expr) else node.exc if isinstance(node, ast.Raise) else None
        if not isinstance(node, ast.stmt) or not isinstance(call, ast.Call) or node.lineno in guarded:
            continue
        name = _name(call.func)
        if name in _EXITS if isinstance(node, ast.Expr) else name == "SystemExit":
            yield node, _code(call)


def _guarded(function: Function) -> set[int]:
    """Lines under `if __name__ == "__main__"`: they end the program as it should."""
    return {
        line
        for node in _own(function.node)
        if isinstance(node, ast.If)
        and "__name__" in {n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)}
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def _own(node: ast.AST) -> Iterator[ast.AST]:
    stack = list(ast.iter_child_nodes(node))
    while stack:
        child = stack.pop()
        yield child
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            stack.extend(ast.iter_child_nodes(child))


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_name(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _code(call: ast.Call) -> int | None:
    """-1 for a code that is certainly another one; None if it is not written there."""
    if not call.args:
        return 0
    value = call.args[0]
    if isinstance(value, ast.Constant):
        return value.value if isinstance(value.value, int) else 1
    return None


def deadline_of(program: Program) -> tuple[Function, ast.Call] | None:
    """The one call of the tree that sets how long collectives may take; None if there are several, or none."""
    found = [
        (function, node)
        for path in program.paths[:MOST_FILES]
        if "timeout" in (program.files.read(path) or "") and (module := program.module(path)) is not None
        for function in module.functions
        if not isinstance(function.node, ast.Lambda)
        for node in _own(function.node)
        if isinstance(node, ast.Call)
        and _name(node.func).rsplit(".", 1)[-1] == "init_process_group"
        and any(keyword.arg == "timeout" for keyword in node.keywords)
    ]
    return found[0] if len(found) == 1 else None
