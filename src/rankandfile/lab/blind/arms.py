"""Which lines of a program are behind each outcome of a test, by its text alone.

`if a: x` has `x` behind true, and what stands in `else` behind false. Where an arm ends in a `return`, `raise`,
`continue` or `break`, what follows in the function, or in the loop, is behind the other outcome too; and behind a loop
without a `break` is what follows it. Nothing of the flow graphs is used by which the analyser finds its tests.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

_LEAVES = (ast.Return, ast.Raise)
_OF_LOOP = (ast.Continue, ast.Break)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


class Arms(NamedTuple):
    true: frozenset[int]
    """Lines that control comes to upon this outcome alone, until it passes the test once more."""
    false: frozenset[int]


def arms(text: str, line: int) -> Arms | None:
    """Of the one statement that tests at this line; None where there is none, or several."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    found = [(node, outer) for node, outer in _with_blocks(tree, []) if _tests_at(node, line)]
    if len(found) != 1:
        return None
    node, outer = found[0]
    if isinstance(node, ast.IfExp):
        true, false = _lines([node.body]), _lines([node.orelse])
        return Arms(frozenset(true - false), frozenset(false - true))
    assert isinstance(node, (ast.If, *_LOOPS))
    true, false = _lines(node.body), _lines(node.orelse)
    if isinstance(node, ast.If):
        false |= _behind(node.body, outer)
        true |= _behind(node.orelse, outer)
    elif outer and not any(isinstance(each, ast.Break) for each in ast.walk(node)):
        false |= _lines(outer[0].rest)
    return Arms(frozenset(true - false), frozenset(false - true))


class _Block(NamedTuple):
    owner: ast.AST
    rest: list[ast.stmt]
    """What follows in it."""


def _with_blocks(node: ast.AST, outer: list[_Block]) -> Iterator[tuple[ast.AST, list[_Block]]]:
    """Every node, with the blocks around it up to its function, innermost first."""
    yield node, outer
    around = [] if isinstance(node, _SCOPES) else outer
    for _, value in ast.iter_fields(node):
        children = value if isinstance(value, list) else [value]
        for place, child in enumerate(children):
            if isinstance(child, ast.stmt):
                yield from _with_blocks(child, [_Block(node, children[place + 1 :]), *around])
            elif isinstance(child, ast.AST):
                yield from _with_blocks(child, around)


def _tests_at(node: ast.AST, line: int) -> bool:
    if isinstance(node, (ast.If, *_LOOPS)):
        test = node.test if isinstance(node, (ast.If, ast.While)) else node.iter
        return line in (node.lineno, test.lineno)
    return isinstance(node, ast.IfExp) and node.test.lineno == line


def _behind(arm: list[ast.stmt], outer: list[_Block]) -> set[int]:
    """The lines that this arm keeps control from."""
    if not arm or not isinstance(arm[-1], (*_LEAVES, *_OF_LOOP)):
        return set()
    kept: set[int] = set()
    for block in outer:
        kept |= _lines(block.rest)
        if isinstance(block.owner, (ast.Try, ast.With, ast.AsyncWith, *_SCOPES)):
            # What is cleaned up, or caught, is passed all the same.
            break
        if isinstance(block.owner, _LOOPS):
            # Behind a loop that is broken off is where it leads; the next round may lead anywhere.
            break
    return kept


def _lines(nodes: list[ast.stmt] | list[ast.expr]) -> set[int]:
    return {line for node in nodes for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
