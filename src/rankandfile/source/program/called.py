"""What a call is a call of, as the program writes it."""

from __future__ import annotations

import ast


def called_name(call: ast.Call) -> str:
    """The last part of the name of what is called; empty where that has none."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""
