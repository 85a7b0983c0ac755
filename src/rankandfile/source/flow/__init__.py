"""Control flow of one function, and the decisions that send control to one line or to another."""

from __future__ import annotations

import ast

from rankandfile.source.program import Function

from .condition import Condition, Exit, Kind, Point

__all__ = ["Condition", "Exit", "Kind", "Point", "deciding"]


def deciding(
    function: Function, here: int | Point, there: int | Point | Exit, after: int | Point | None = None
) -> list[Condition]:
    """The decisions, nearest first, by which control reaches `here` first on one side and `there` on the other.

    Control comes from line `after`, or from the start of the function. `"return"` is any normal end of the function,
    `"raise"` an exception that leaves it, `"end"` either.
    """
    line = here.line if isinstance(here, Point) else here
    found = []
    for node in ast.walk(function.node):
        if isinstance(node, (ast.If, ast.While)) and node.lineno <= line <= (node.end_lineno or 0):
            kind: Kind = "if" if isinstance(node, ast.If) else "while"
            text = function.module.lines[node.lineno - 1].strip()
            found.append(Condition(node.lineno, text, kind, "taken", "not taken", node.test))
    return sorted(found, key=lambda condition: -condition.line)
