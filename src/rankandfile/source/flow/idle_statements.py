"""Statements that have no part in what a function hands on: what is printed, and what is assigned for nobody."""

from __future__ import annotations

import ast

from rankandfile.source.program.modules import Function
from rankandfile.source.program.scopes import own_nodes


def for_nothing(function: Function) -> list[ast.stmt]:
    """What is printed, and assignments to names that nothing else asks for: neither comes to what is handed on."""
    nodes = list(own_nodes(function))
    given = {
        node: names
        for node in nodes
        if isinstance(node, ast.stmt) and (names := _names_given(node)) is not None
    }
    idle = {n for node in given for n in ast.walk(node)}
    needed = {
        n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n not in idle
    }
    used: set[ast.stmt] = set()
    while more := [node for node, names in given.items() if names & needed and node not in used]:
        used.update(more)
        needed |= {n.id for node in more for n in ast.walk(node) if isinstance(n, ast.Name)}
    return [node for node in given if node not in used]


def _names_given(statement: ast.stmt) -> set[str] | None:
    """The names that an assignment gives, none for what is printed; None for what may do more."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return set() if getattr(statement.value.func, "id", "") == "print" else None
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
        targets = [statement.target]
    else:
        return None
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    return names if all(isinstance(target, ast.Name) for target in targets) else None
