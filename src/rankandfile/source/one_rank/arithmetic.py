"""What Python's operators make of values of which only a few are possible."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable
from itertools import product
from typing import TypeAlias

Plain: TypeAlias = "bool | int | float | str | tuple[Plain, ...] | None"
Values: TypeAlias = "frozenset[Plain] | None"
"""The values that it can have; None: anything."""

MOST = 64
#: Of a list: as many as there are ranks.
MOST_ITEMS = 4096
_LARGEST = 1 << 24
_LONGEST = 200
_DIVIDES = (ast.FloorDiv, ast.Mod, ast.Div)

_ARITHMETIC: dict[type[ast.operator], Callable[[int, int], Plain]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Div: operator.truediv,
    ast.BitXor: operator.xor,
    ast.BitAnd: operator.and_,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Plain, Plain], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,  # type: ignore[dict-item]
    ast.LtE: operator.le,  # type: ignore[dict-item]
    ast.Gt: operator.gt,  # type: ignore[dict-item]
    ast.GtE: operator.ge,  # type: ignore[dict-item]
    ast.In: lambda a, b: a in b,  # type: ignore[operator]
    ast.NotIn: lambda a, b: a not in b,  # type: ignore[operator]
}
EITHER: frozenset[Plain] = frozenset({False, True})


def is_number(value: object) -> bool:
    return isinstance(value, (bool, int, float))


def small(value: object) -> bool:
    """What may be kept: hostile source must not make numbers or texts that fill the memory."""
    if isinstance(value, str):
        return len(value) <= _LONGEST
    if isinstance(value, tuple):
        return len(value) <= MOST_ITEMS and all(small(one) for one in value)
    return value is None or (is_number(value) and abs(value) <= _LARGEST)  # type: ignore[arg-type]


def each(values: Values, change: Callable[[Plain], Plain]) -> Values:
    """What the change makes of each; where it fails on one, the program does not get there with it."""
    if values is None:
        return None
    found: set[Plain] = set()
    for value in values:
        try:
            made = change(value)
        except (TypeError, ValueError, KeyError, IndexError, OverflowError, ZeroDivisionError):
            continue
        if not small(made):
            return None
        found.add(made)
    return frozenset(found) or None


def combined(left: Values, op: ast.operator, right: Values, world: int | None) -> Values:
    do = _ARITHMETIC.get(type(op))
    if right is None and isinstance(op, (ast.FloorDiv, ast.Mod)) and world is not None and world <= MOST:
        # By a number of ranks, most likely; and whatever it is, it is the same to everyone who asks here.
        right = frozenset(range(1, world + 1))
    if do is None or left is None or right is None:
        return None
    found: set[Plain] = set()
    for a, b in product(left, right):
        joined = isinstance(a, tuple) and isinstance(b, tuple) and do is operator.add
        if not joined and not (is_number(a) and is_number(b)):
            return None
        if isinstance(op, _DIVIDES) and not b:
            continue
        try:
            made = do(a, b)  # type: ignore[arg-type]
        except (TypeError, OverflowError):
            continue
        if not small(made):
            return None
        found.add(made)
    return frozenset(found) or None


def compared(left: Values, op: ast.cmpop, right: Values) -> frozenset[Plain]:
    if left is None or right is None:
        return EITHER
    found: set[Plain] = set()
    for a, b in product(left, right):
        if isinstance(op, (ast.Is, ast.IsNot)):
            if a is not None and b is not None and not (isinstance(a, bool) and isinstance(b, bool)):
                return EITHER
            found.add((a is b) == isinstance(op, ast.Is))
            continue
        try:
            found.add(bool(_COMPARISONS[type(op)](a, b)))
        except TypeError:
            return EITHER
    return frozenset(found) or EITHER


def alone(many: Iterable[Values]) -> tuple[Plain, ...] | None:
    """The one value of each; None where one of them can have several."""
    found: list[Plain] = []
    for values in many:
        if values is None or len(values) != 1:
            return None
        found += values
    return tuple(found)


def union(many: Iterable[Values]) -> Values:
    """All that any of them can be."""
    found: set[Plain] = set()
    for values in many:
        if values is None:
            return None
        found |= values
    return frozenset(found) if found and len(found) <= MOST else None
