"""Classes by the names that their objects get: for a variable of which nothing else says what it is."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from .kept import kept
from .modules import Function, Program
from .names import Class, resolve
from .scopes import own_nodes


def made_as(program: Program, name: str) -> list[Class]:
    """The classes of the program of which an object is made under this name, a variable's or an attribute's."""
    return _by_name(program).get(name, [])


@kept
def _by_name(program: Program) -> dict[str, list[Class]]:
    found: dict[str, dict[Class, None]] = {}
    for module in filter(None, map(program.module, program.paths)):
        for function in module.functions:
            for node in own_nodes(function):
                if isinstance(node, ast.Assign | ast.AnnAssign):
                    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                    _keep(found, function, node.value, targets)
    return {name: list(classes) for name, classes in found.items()}


def _keep(
    found: dict[str, dict[Class, None]],
    function: Function,
    value: ast.expr | None,
    targets: Sequence[ast.expr],
) -> None:
    made = resolve(function, value.func) if isinstance(value, ast.Call) else None
    if not isinstance(made, Class):
        return
    for target in targets:
        name = getattr(target, "attr", getattr(target, "id", None))
        if name is not None:
            found.setdefault(name, {})[made] = None
