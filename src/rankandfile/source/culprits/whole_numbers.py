"""What whole number an expression of the source can be on one rank.

Most of a program is not known, and what is not known can be anything. But much of what names a peer or a root is
arithmetic on the rank's own number, and then only a few numbers are left: `self.rank + 1`, or nothing at the last
stage. Nothing is executed; of two ways both are taken.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable
from itertools import product
from typing import TypeAlias

from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence.frame import Frame
from rankandfile.source.dependence.index import index_of
from rankandfile.source.dependence.objects import Objects
from rankandfile.source.program.modules import Function, Program
from rankandfile.source.program.names import (
    Class,
    External,
    method,
    methods,
    own_nodes,
    resolve,
)
from rankandfile.source.registry.tables import canonical

from .assigned_values import (
    given,
    is_generator,
    is_plain_property,
    names_rank,
    stored,
)

Values: TypeAlias = "frozenset[int | None] | None"
"""The numbers that it can be, None among them for Python's own; None: anything."""

_MOST = 64
_DEEPEST = 12
_MOST_STEPS = 2000
_LARGEST = 1 << 24
_BOTH: frozenset[int | None] = frozenset({False, True})
_RANK = {"torch.distributed.get_rank", "torch.distributed.distributed_c10d.get_rank"}
_WORLD = {"torch.distributed.get_world_size", "torch.distributed.distributed_c10d.get_world_size"}

_ARITHMETIC: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitXor: operator.xor,
    ast.BitAnd: operator.and_,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_DIVIDES = (ast.FloorDiv, ast.Mod)


class WholeNumbers:
    """Answers for one rank of a job of known size."""

    def __init__(self, program: Program, rank: int, world: int, objects: Objects | None = None) -> None:
        self.rank, self.world = rank, world
        self._index = index_of(program)
        self._objects = objects or Objects(self._index)
        self._left = _MOST_STEPS

    @heuristic("whole numbers", "arithmetic on a rank's own number leaves few numbers")
    def of(self, e: ast.expr, function: Function, depth: int = 0) -> Values:
        self._left -= 1
        if depth > _DEEPEST or self._left < 0:
            return None
        found = self._of(e, function, depth + 1)
        return found if found is not None and len(found) <= _MOST else None

    def _of(self, e: ast.expr, function: Function, depth: int) -> Values:
        match e:
            case ast.Constant(value=bool() | int() | None as value):
                return frozenset({value}) if value is None or abs(value) <= _LARGEST else None
            case ast.Name():
                return self._name(e.id, function, depth)
            case ast.Attribute():
                return self._attribute(e, function, depth)
            case ast.Call():
                return self._call(e, function, depth)
            case ast.IfExp():
                outcomes = self._outcomes(e.test, function, depth)
                return self._union(
                    outcome for outcome, on in ((e.body, True), (e.orelse, False)) if on in outcomes
                )(function, depth)
            case ast.BinOp():
                return self._arithmetic(e, function, depth)
            case ast.Compare(ops=[one], comparators=[right]):
                return self._comparison(
                    self.of(e.left, function, depth), one, self.of(right, function, depth)
                )
            case ast.Compare():
                return _BOTH
            case ast.BoolOp():
                return self._union(e.values)(function, depth)
            case ast.UnaryOp(op=ast.USub()):
                return _each(self.of(e.operand, function, depth), operator.neg)
            case ast.UnaryOp(op=ast.Not()):
                return frozenset(not outcome for outcome in self._outcomes(e.operand, function, depth))
        return None

    def _union(self, parts: Iterable[ast.expr]) -> Callable[[Function, int], Values]:
        """All that any of the expressions can be."""

        def ask(function: Function, depth: int) -> Values:
            found: set[int | None] = set()
            for part in parts:
                values = self.of(part, function, depth)
                if values is None:
                    return None
                found |= values
            return frozenset(found) or None

        return ask

    def can_be_true(self, test: ast.expr, function: Function) -> bool:
        return True in self._outcomes(test, function, 0)

    def _outcomes(self, test: ast.expr, function: Function, depth: int) -> set[bool]:
        if isinstance(test, ast.BoolOp):
            ends = isinstance(test.op, ast.Or)
            parts = [self._outcomes(part, function, depth + 1) for part in test.values]
            if any(outcomes == {ends} for outcomes in parts):
                return {ends}
            return {True, False} if any(ends in outcomes for outcomes in parts) else {not ends}
        values = self.of(test, function, depth)
        return {True, False} if values is None else {bool(value) for value in values}

    def _name(self, name: str, function: Function, depth: int) -> Values:
        if name in function.parameters:
            return None
        scope, found = function, list(given(function, name))
        if not found and not isinstance(function.node, ast.Module):
            scope = function.module.functions[0]
            found = list(given(scope, name))
        if not found or any(value is None for value in found):
            return None
        return self._union(value for value in found if value is not None)(scope, depth)

    def _attribute(self, e: ast.Attribute, function: Function, depth: int) -> Values:
        classes = self._objects.classes(e.value, Frame(function))
        found: set[int | None] = set()
        for cls in classes:
            values = self._kept(cls, e.attr, depth)
            if values is None:
                return None
            found |= values
        return frozenset(found) or None

    def _kept(self, cls: Class, name: str, depth: int) -> Values:
        """What an object of the class keeps under the name, or its property returns."""
        own = method(cls, name)
        if own is not None:
            return self._returned(own, depth) if is_plain_property(own) else None
        if any(not other.startswith("self.") for _, other in self._index.stores.get(name, ())):
            # Somebody else gives it a value too.
            return None
        found: set[int | None] = set()
        for each in methods(cls):
            for value in stored(each, name):
                values = None if value is None else self.of(value, each, depth)
                if values is None:
                    return None
                found |= values
        return frozenset(found) or None

    def _returned(self, function: Function, depth: int) -> Values:
        results = [node.value for node in own_nodes(function) if isinstance(node, ast.Return)]
        return self._union(value for value in results if value is not None)(function, depth)

    def _call(self, e: ast.Call, function: Function, depth: int) -> Values:
        target = resolve(function, e.func)
        if isinstance(target, Function):
            plain = not e.args and not e.keywords and not is_generator(target)
            return self._returned(target, depth) if plain else None
        if not isinstance(target, External) or e.keywords:
            return None
        name = canonical(target.dotted)
        if name in _RANK and not e.args:
            return frozenset({self.rank})
        if name in _WORLD and not e.args:
            return frozenset({self.world})
        if name in ("builtins.int", "builtins.bool", "builtins.abs") and len(e.args) == 1:
            if name == "builtins.int" and names_rank(e.args[0]):
                return frozenset({self.rank})
            return _each(self.of(e.args[0], function, depth), abs if name == "builtins.abs" else int)
        return None

    def _arithmetic(self, e: ast.BinOp, function: Function, depth: int) -> Values:
        do = _ARITHMETIC.get(type(e.op))
        left, right = self.of(e.left, function, depth), self.of(e.right, function, depth)
        if right is None and isinstance(e.op, _DIVIDES):
            # By a number of ranks, most likely; and whatever it is, it is the same to everyone who asks here.
            right = frozenset(range(1, self.world + 1)) if self.world <= _MOST else None
        if do is None or left is None or right is None:
            return None
        return frozenset(
            do(a, b)
            for a, b in product(left, right)
            if a is not None and b is not None and not (isinstance(e.op, _DIVIDES) and b == 0)
        )

    def _comparison(self, left: Values, one: ast.cmpop, right: Values) -> Values:
        if left is None or right is None:
            return _BOTH
        if isinstance(one, (ast.Is, ast.IsNot)):
            return frozenset((a is b) == isinstance(one, ast.Is) for a, b in product(left, right))
        do = _COMPARISONS.get(type(one))
        if do is None or ((None in left or None in right) and not isinstance(one, (ast.Eq, ast.NotEq))):
            return _BOTH
        return frozenset(bool(do(a, b)) for a, b in product(left, right))  # type: ignore[arg-type]


def _each(values: Values, change: Callable[[int], int]) -> Values:
    return None if values is None else frozenset(change(v) for v in values if v is not None) or None
