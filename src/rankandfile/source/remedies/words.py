"""Code in sentences."""

from __future__ import annotations

import ast

from .code import Module

_LONGEST = 60


def quoted(module: Module, node: ast.AST) -> str:
    """The code in backquotes, on one line, cut where it is long."""
    return f"`{flat(module, node)}`"


def with_place(module: Module | None, path: str, node: ast.expr) -> str:
    """The code in backquotes, and where it stands; `module` is its file, where that can be read."""
    return f"{quoted(module, node) if module else f'`{ast.unparse(node)}`'} ({path}:{node.lineno})"


def flat(module: Module, node: ast.AST) -> str:
    """The code on one line, cut where it is long."""
    code = " ".join(module.source(node).split())
    return code if len(code) <= _LONGEST else f"{code[: _LONGEST - 3]}..."
