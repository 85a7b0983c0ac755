"""Expressions as control flow, in the order in which Python evaluates them, built from the end to the start."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from .condition import NO_MORE_ITEMS, Kind
from .graph import RAISED, Decision, Node

MOST_NODES = 40_000

Thrown: TypeAlias = "ast.expr | None"
"""What a raise statement raises; None for an exception of unknown type."""


class TooLarge(Exception):
    """The graph of the function would take too much memory."""


class Exits(Struct, frozen=True):
    """Where control goes when it does not go on: the ways out of the code being built."""

    leave: Callable[[], Node]
    raises: Callable[[Thrown], Node]
    stop: Callable[[], Node]
    again: Callable[[], Node]
    guarded: bool = False
    """Inside a `try` or a `with` of this function: an exception is then more than the end of the function."""

    def with_loop(self, stop: Node, again: Node) -> Exits:
        return replace(self, stop=lambda: stop, again=lambda: again)


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_PLAIN = (ast.Constant, ast.Name, ast.Lambda)
_CAN_RAISE = (ast.Subscript, ast.Attribute, ast.BinOp, ast.Starred, ast.FormattedValue)


class Expressions:
    """Builds expressions; every method returns the node where the evaluation starts."""

    def __init__(self) -> None:
        self.made = 0

    def node(
        self, what: ast.AST | None = None, lines: tuple[int, ...] = (), *to: Node, binds: bool = False
    ) -> Node:
        self.made += 1
        if self.made > MOST_NODES:
            raise TooLarge
        return Node(what, lines, [("", node) for node in to], binds=binds)

    def step(
        self, what: ast.AST, lines: tuple[int, ...], after: Node, exits: Exits, binds: bool = False
    ) -> Node:
        """A step that may raise."""
        node = self.node(what, lines, after, binds=binds)
        node.edges.append((RAISED, exits.raises(None)))
        return node

    def raising(self, what: ast.stmt, to: Node) -> Node:
        """A step that always raises."""
        node = self.node(what, (what.lineno,))
        node.edges.append((RAISED, to))
        return node

    def all(self, parts: list[ast.expr], after: Node, exits: Exits) -> Node:
        for part in reversed(parts):
            after = self.value(part, after, exits)
        return after

    def value(self, e: ast.expr, after: Node, exits: Exits) -> Node:
        """Evaluate `e`, then go on to `after`."""
        if isinstance(e, _PLAIN):
            return after
        if isinstance(e, ast.BoolOp):
            return self._short_circuit(e, after, exits)
        if isinstance(e, ast.IfExp):
            return self._either(e, after, exits)
        if isinstance(e, _COMPREHENSIONS):
            return self._comprehension(e, after, exits)
        if isinstance(e, ast.Compare) and len(e.ops) > 1:
            return self._chain(e, after, exits)
        if isinstance(e, ast.NamedExpr):
            return self.value(e.value, self.node(e, (), after, binds=True), exits)
        if isinstance(e, (ast.Call, ast.Await, ast.Yield, ast.YieldFrom)):
            after = self.step(e, _lines(e), after, exits)
        elif exits.guarded and isinstance(e, _CAN_RAISE):
            after = self.step(e, (), after, exits)
        if isinstance(e, ast.BinOp):
            return self._operands(e, after, exits)
        return self.all(list(_parts(e)), after, exits)

    def test(self, e: ast.expr, then: Node, other: Node, exits: Exits, decision: Decision) -> Node:
        """Evaluate `e` as a condition of `decision`."""
        if isinstance(e, ast.Constant):
            return then if e.value else other
        if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.Not):
            return self.test(e.operand, other, then, exits, decision)
        if isinstance(e, ast.IfExp):
            inner = Decision("ifexp", e, e.test, e.lineno, ("true", "false"))
            yes = self.test(e.body, then, other, exits, decision)
            no = self.test(e.orelse, then, other, exits, decision)
            return self.decide(e.test, yes, no, exits, inner)
        if isinstance(e, ast.BoolOp):
            every = isinstance(e.op, ast.And)
            start = self.test(e.values[-1], then, other, exits, decision)
            for part in reversed(e.values[:-1]):
                start = self.test(part, *((start, other) if every else (then, start)), exits, decision)
            return start
        node = self.node(e)
        node.edges = [("true", then), ("false", other)]
        node.decision = decision
        decision.leaves += 1
        return self.value(e, node, exits)

    def decide(self, e: ast.expr, then: Node, other: Node, exits: Exits, decision: Decision) -> Node:
        """The whole test of a decision."""
        decision.then, decision.other, decision.leaves = then, other, 0
        return self.test(e, then, other, exits, decision)

    def _short_circuit(self, e: ast.BoolOp, after: Node, exits: Exits) -> Node:
        every = isinstance(e.op, ast.And)
        start = self._arm(e.values[-1], after, exits)
        for part in reversed(e.values[:-1]):
            decision = Decision("boolop", e, part, part.lineno, ("true", "false"))
            then, other = (start, after) if every else (after, start)
            start = self.decide(part, then, other, exits, decision)
        return start

    def _either(self, e: ast.IfExp, after: Node, exits: Exits) -> Node:
        decision = Decision("ifexp", e, e.test, e.lineno, ("true", "false"))
        yes, no = self._arm(e.body, after, exits), self._arm(e.orelse, after, exits)
        return self.decide(e.test, yes, no, exits, decision)

    def _arm(self, e: ast.expr, after: Node, exits: Exits) -> Node:
        """Evaluate what is not evaluated on every way: it ends in a step of its own, with a call or without."""
        if isinstance(e, _PLAIN):
            return after
        end = self.node(None, (), after)
        end.arm = e
        return self.value(e, end, exits)

    def _chain(self, e: ast.Compare, after: Node, exits: Exits) -> Node:
        """`a < b < c`: the third operand is evaluated only if the first comparison holds."""
        start = after
        for index in range(len(e.comparators) - 1, 0, -1):
            right = self.value(e.comparators[index], start, exits)
            decision = Decision("boolop", e, e, e.lineno, ("true", "false"), right, after)
            start = self.node(e)
            start.edges, start.decision = [("true", right), ("false", after)], decision
        return self.all([e.left, e.comparators[0]], start, exits)

    def _comprehension(
        self, e: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, after: Node, exits: Exits
    ) -> Node:
        elements = [e.key, e.value] if isinstance(e, ast.DictComp) else [e.elt]
        return self._rounds(e, list(e.generators), elements, after, exits)

    def _rounds(
        self,
        e: ast.expr,
        generators: list[ast.comprehension],
        elements: list[ast.expr],
        after: Node,
        exits: Exits,
    ) -> Node:
        first, rest = generators[0], generators[1:]
        words = ("another item", NO_MORE_ITEMS)
        top = self.node(first, (first.iter.lineno,))
        top.decision = Decision("comprehension", first, first.iter, first.iter.lineno, words)
        inside = self._rounds(e, rest, elements, top, exits) if rest else self.all(elements, top, exits)
        for condition in reversed(first.ifs):
            kind: Kind = "comprehension"
            kept = Decision(kind, condition, condition, condition.lineno, ("item kept", "item dropped"))
            inside = self.decide(condition, inside, top, exits, kept)
        bind = self.node(first, (), inside, binds=True)
        top.decision.then, top.decision.other = bind, after
        top.edges = [("true", bind), ("false", after), (RAISED, exits.raises(None))]
        return self.value(first.iter, top, exits)

    def _operands(self, e: ast.BinOp, after: Node, exits: Exits) -> Node:
        """A long sum is a deep tree; its left spine is walked, not recursed into."""
        left: ast.expr = e
        while isinstance(left, ast.BinOp):
            after = self.value(left.right, after, exits)
            left = left.left
        return self.value(left, after, exits)


def _parts(e: ast.expr) -> Iterator[ast.expr]:
    """Operands in the order of their evaluation."""
    if isinstance(e, ast.Dict):
        for key, value in zip(e.keys, e.values, strict=True):
            if key is not None:
                yield key
            yield value
        return
    for child in ast.iter_child_nodes(e):
        if isinstance(child, ast.expr):
            yield child
        elif isinstance(child, ast.keyword):
            yield child.value


def _lines(e: ast.expr) -> tuple[int, ...]:
    """A call of a method on a line of its own is seen at the line of the method's name."""
    if isinstance(e, ast.Call) and isinstance(e.func, ast.Attribute) and e.func.end_lineno != e.lineno:
        return (e.lineno, e.func.end_lineno or e.lineno)
    return (e.lineno,)


def stored_through(target: ast.expr) -> list[ast.expr]:
    """What has to be evaluated to store into a target: the object and the index."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return [part for element in target.elts for part in stored_through(element)]
    if isinstance(target, ast.Starred):
        return stored_through(target.value)
    if isinstance(target, ast.Attribute):
        return [target.value]
    return [target.value, target.slice] if isinstance(target, ast.Subscript) else []
