"""Code as it stands in a block of a file: with the file's own step of indentation."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

_STEP = " " * 4


def indented(code: str, indent: str, step: str) -> str:
    """Statements at the left margin -> the same at this indentation. Raises SyntaxError.

    >>> indented("if a:\\n    b()\\n", "\\t", "\\t")
    '\\tif a:\\n\\t\\tb()'
    """
    tree, lines = ast.parse(code), code.rstrip("\n").split("\n")
    old, strings, depths = unit_of(tree, lines), lines_in_strings(tree), dict(_depths(tree, 0))
    made = []
    for number, line in enumerate(lines):
        depth = depths.get(number, 0)
        if number in strings or not line.strip():
            made.append(line)
        else:
            made.append(indent + step * depth + line.removeprefix(old * depth))
    return "\n".join(made)


def unit_of(tree: ast.Module, lines: Sequence[str]) -> str:
    """By how much the first block of some code is indented."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if (
            isinstance(body, list)
            and not isinstance(node, ast.Module)
            and isinstance(node, (ast.stmt, ast.excepthandler))
        ):
            ahead, inside = (lines[one.lineno - 1] for one in (node, body[0]))
            margin = len(ahead) - len(ahead.lstrip())
            step = inside[margin : len(inside) - len(inside.lstrip())]
            if step:
                return step
    return _STEP


def lines_in_strings(tree: ast.AST) -> set[int]:
    """Lines, from 0, whose beginning is part of a string."""
    return {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))
        for line in range(node.lineno, node.end_lineno or node.lineno)
    }


def _depths(node: ast.AST, depth: int) -> Iterator[tuple[int, int]]:
    """Each line of the statements in a block, from 0, and how many blocks it is in; later pairs count."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            first = min((one.lineno for one in getattr(child, "decorator_list", ())), default=child.lineno)
            yield from ((line - 1, depth) for line in range(first, (child.end_lineno or child.lineno) + 1))
            yield from _depths(child, depth + 1)
        elif isinstance(child, (ast.excepthandler, ast.match_case)):
            yield from _depths(child, depth + isinstance(child, ast.match_case))
