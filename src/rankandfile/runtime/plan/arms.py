"""Two ways through one decision: who has nothing to share makes its part of a call elsewhere, and all go on together.

    if batch is None:
        share_nothing()     # both make the same call,
    else:
        share(batch)        # and are alternatives: whoever came by one did not come by the other

A line that leaves the loop is no such alternative: whoever went by it does not go on with the others.
"""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterator, Sequence

#: Of larger files nothing is asked.
_MOST_LINES = 20_000
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def alternatives(mine: Sequence[str], files: Sequence[str], others: Sequence[str]) -> bool:
    """Whether two ways, innermost frame first, are one, or part at one decision of one function. `files`: of `mine`."""
    for own, file, other in zip(reversed(mine), reversed(files), reversed(others), strict=False):
        if own == other:
            continue  # further in
        where, line, function = own.rsplit(":", 2)
        place, at, name = other.rsplit(":", 2)
        return (where, function) == (place, name) and _are_arms(file, int(line), int(at))
    return tuple(mine) == tuple(others)


@functools.lru_cache(maxsize=256)
def _are_arms(file: str, one: int, other: int) -> bool:
    lines = linecache.getlines(file)
    if not lines or len(lines) > _MOST_LINES:
        return False
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError):
        return False
    return any(
        _holds(arm, a) and _holds(rest, b)
        for arm, rest in _arms(tree, False)
        for a, b in ((one, other), (other, one))
    )


def _holds(arm: Sequence[ast.AST], line: int) -> bool:
    return bool(arm) and arm[0].lineno <= line <= (arm[-1].end_lineno or 0)  # type: ignore[attr-defined]


def _arms(node: ast.AST, in_loop: bool) -> Iterator[tuple[Sequence[ast.AST], Sequence[ast.AST]]]:
    """Pairs of which a rank goes through one, and then on with those that went through the other."""
    in_loop = isinstance(node, _LOOPS) or (in_loop and not isinstance(node, _FUNCTIONS))
    if isinstance(node, ast.IfExp):
        yield [node.body], [node.orelse]
    if isinstance(node, ast.If) and not _leaves(node.body, in_loop) and not _leaves(node.orelse, in_loop):
        yield node.body, node.orelse
    if isinstance(node, ast.Match):
        bodies = [case.body for case in node.cases if not _leaves(case.body, in_loop)]
        yield from ((a, b) for n, a in enumerate(bodies) for b in bodies[n + 1 :])
    for _, block in ast.iter_fields(node):
        if not isinstance(block, list):
            continue
        for n, one in enumerate(block):
            # What ends with `continue`, or `return` outside of a loop, is the other arm of all that follows.
            if isinstance(one, ast.If) and _ends_early(one.body, in_loop):
                yield one.body, block[n + 1 :]
    for child in ast.iter_child_nodes(node):
        yield from _arms(child, in_loop)


def _leaves(arm: Sequence[ast.stmt], in_loop: bool) -> bool:
    last = arm[-1] if arm else None
    return isinstance(last, (ast.Break, ast.Raise)) or (in_loop and isinstance(last, ast.Return))


def _ends_early(arm: Sequence[ast.stmt], in_loop: bool) -> bool:
    return isinstance(arm[-1], ast.Continue) or (not in_loop and isinstance(arm[-1], ast.Return))
