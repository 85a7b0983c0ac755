"""Of a test of several parts, `a or b`, which of them parted the ranks.

In: the test, and why it can differ. Out: the same reason with all parts told that may have come out differently: only
one, where each side's ranks are known to differ in it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from rankandfile.source.dependence import Reason, why
from rankandfile.source.dependence.syntax import text
from rankandfile.source.program.called import called_name
from rankandfile.source.program.modules import Function, Program

_LONGEST = 60
_NUMBERED = ("range", "enumerate", "count")


def told_apart(
    program: Program,
    function: Function,
    test: ast.AST,
    reason: Reason,
    ways: Callable[[ast.expr], tuple[frozenset[bool], frozenset[bool]]],
) -> Reason:
    """`ways`: which ways a part can come out on either side."""
    parts = list(_parts(test))
    if reason.level not in ("varying", "axes") or len(parts) < 2:
        return reason
    outcomes = [ways(part) for part in parts]
    if any(len(one) == len(other) == 1 and one != other for one, other in outcomes):
        return reason
    # What comes out the same on both sides, whatever it is made of, parts nobody.
    open_ = [part for part, sides in zip(parts, outcomes, strict=True) if len(sides[0] | sides[1]) > 1]
    reasons = [(part, why(program, function, part)) for part in open_]
    differ = [(part, found) for part, found in reasons if found.level != "uniform"]
    mine = next((part for part, found in differ if found.source == reason.source), None)
    # One source says it all, whichever part it is.
    others = tuple(text(part, _LONGEST) for part, found in differ if found.source != reason.source)
    return reason if mine is None or not others else replace(reason, of=text(mine, _LONGEST), or_of=others)


def _parts(test: ast.AST) -> Iterator[ast.expr]:
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _parts(value)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _parts(test.operand)
    elif isinstance(test, ast.expr):
        yield test


def by_the_count(function: Function, test: ast.AST) -> bool:
    """`step % every == 0`, of the number of a round: ranks in step come to it in the same one."""
    parts = list(_parts(test))
    return bool(parts) and all(_is_modulo(function, part) for part in parts)


def _is_modulo(function: Function, part: ast.expr) -> bool:
    sides = [part.left, *part.comparators] if isinstance(part, ast.Compare) else [part]
    return any(
        isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mod) and _counts(function, side.left)
        for side in sides
    )


def _counts(function: Function, number: ast.expr) -> bool:
    """A loop's own number, or what is counted up by one number: with or without a constant."""
    if isinstance(number, ast.BinOp) and isinstance(number.right, ast.Constant):
        number = number.left
    if not isinstance(number, (ast.Name, ast.Attribute)):
        return False
    name = ast.unparse(number)
    for node in function.module.nodes:
        if (
            isinstance(node, ast.For)
            and isinstance(node.iter, ast.Call)
            and called_name(node.iter) in _NUMBERED
        ):
            first = node.target.elts[0] if isinstance(node.target, ast.Tuple) else node.target
            if ast.unparse(first) == name:
                return True
        if (
            isinstance(node, ast.AugAssign)
            and isinstance(node.value, ast.Constant)
            and ast.unparse(node.target) == name
        ):
            return True
    return False
