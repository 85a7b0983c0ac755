"""Which outcomes of a decision are open to a rank: the same question is answered alike wherever it is asked.

"Main process first" is two tests of one thing, and each rank meets the others once. In: what one decision is assumed to
be, and what is known of every rank of a small job. Out: for any decision, the outcomes that are left.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cached_property

from rankandfile.source.dependence.callers import is_static
from rankandfile.source.dependence.frame import Frame, called
from rankandfile.source.dependence.syntax import text
from rankandfile.source.flow.graph import Node
from rankandfile.source.one_rank.job import Job
from rankandfile.source.one_rank.values import OneRank
from rankandfile.source.program.modules import Function, Program

from .event import objects_of
from .sequences import Open

BOTH = frozenset({"true", "false"})
_JOB = Job(world=64, hosts=("host",) * 64)
_RANKS = (0, 1, 2, 3, 4, 7, 63)
"""Those that programs ask for by number, and one in the middle."""
_TURNED = {ast.NotEq: "==", ast.IsNot: "is", ast.NotIn: "in"}
_PLAIN = {ast.Eq: "==", ast.Is: "is", ast.In: "in"}


_DEEPEST = 2
"""Calls between the decision and another one, about which more is asked than its own words."""
_MOST_STEPS = 120


class Roles:
    """What each rank of a small job answers to the tests of a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._known: dict[tuple[int, ast.AST, tuple[object, ...]], frozenset[bool]] = {}

    @cached_property
    def _ranks(self) -> dict[int, OneRank]:
        objects = objects_of(self.program)
        return {rank: OneRank(self.program, rank, _JOB, objects) for rank in _RANKS}

    def answers(self, function: Function, test: ast.AST, calls: Open = ()) -> dict[int, frozenset[bool]]:
        """Rank -> the ways in which the test can come out on it."""
        first = self._answer(_RANKS[0], function, test, calls)
        if len(first) > 1:
            # What is not known of the first rank is nothing that a rank's number tells.
            return dict.fromkeys(_RANKS, first)
        return {rank: self._answer(rank, function, test, calls) for rank in _RANKS}

    def _answer(self, rank: int, function: Function, test: ast.AST, calls: Open) -> frozenset[bool]:
        if not isinstance(test, ast.expr) or len(calls) > _DEEPEST:
            return frozenset({True, False})
        key = (rank, test, tuple(call[3] for call in calls))
        if key not in self._known:
            one = self._ranks[rank]
            objects_of(self.program)
            one._left = _MOST_STEPS
            try:
                self._known[key] = one.ways(test, _frame(function, calls))
            except RecursionError:
                self._known[key] = frozenset({True, False})
        return self._known[key]

    def of_rank(self, rank: int) -> Ways:
        """The outcomes that are open to one rank."""

        def ways(function: Function, node: Node, calls: Open) -> frozenset[str]:
            return _words(self._answer(rank, function, _test(node), calls))

        return ways

    def assumed(self, test: ast.expr, outcome: bool) -> Ways:
        """The outcomes that are open to a rank on which this test of the function comes out so, and which says of
        everything else no more than all ranks have in common."""
        word, straight = asked(test)

        def ways(function: Function, node: Node, calls: Open) -> frozenset[str]:
            other = _test(node)
            if not calls and isinstance(other, ast.expr):
                same, way = asked(other)
                if same == word:
                    return frozenset({"true" if outcome == (way == straight) else "false"})
            found: frozenset[bool] = frozenset()
            for rank in _RANKS:
                found |= self._answer(rank, function, other, calls)
                if len(found) > 1:
                    break
            return _words(found)

        return ways


Ways = Callable[[Function, Node, Open], frozenset[str]]


class Answers:
    """The outcomes that are open to a rank, and a note of all that it was asked."""

    def __init__(self, ways: Ways) -> None:
        self.ways = ways
        self.given: dict[tuple[Node, Open], frozenset[str]] = {}

    def __call__(self, function: Function, node: Node, calls: Open) -> frozenset[str]:
        found = self.given[node, calls] = self.ways(function, node, calls)
        return found

    def unlike(self, other: Answers, but: Node) -> bool:
        """Whether the two answer anything differently, other than at one step."""
        return any(
            other.given.get(asked, found) != found
            for asked, found in self.given.items()
            if asked[0] is not but
        )


def _test(node: Node) -> ast.AST:
    """What a decision asks; for a loop nothing that could be known."""
    kind = node.decision.kind if node.decision is not None else ""
    return node.what if node.what is not None and kind not in ("for", "comprehension") else ast.Pass()


def _words(ways: frozenset[bool]) -> frozenset[str]:
    return BOTH if len(ways) != 1 else frozenset({"true" if True in ways else "false"})


def _frame(function: Function, calls: Open) -> Frame:
    """The function as the open calls have called it."""
    if not calls or not isinstance(calls[-1][3], ast.Call):
        return Frame(function)
    caller, _step, _number, call = calls[-1]
    assert isinstance(call, ast.Call)
    outer = _frame(caller, calls[:-1])
    return called(function, call, outer, bound=_bound(function, call))


def _bound(function: Function, call: ast.Call) -> bool:
    if function.owner is None:
        return False
    return (not is_static(function) and isinstance(call.func, ast.Attribute)) or function.name == "__init__"


def asked(test: ast.expr) -> tuple[str, bool]:
    """The question of a test, and whether it is asked straight: `x is not None` and `not (x is None)` are alike."""
    straight = True
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, straight = test.operand, not straight
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        kind = type(test.ops[0])
        word = _PLAIN.get(kind) or _TURNED.get(kind)
        if word is not None:
            turned = kind in _TURNED
            return f"{text(test.left, 200)} {word} {text(test.comparators[0], 200)}", straight != turned
    return text(test, 400), straight
