"""What is known of each rank's answer to the tests at a place: who comes there at all, and who must go which way.

A patch that lets ranks meet is worth nothing where some of them never come.
"""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TypeAlias

from rankandfile.source.dependence import Step, why
from rankandfile.source.dependence.frame import Frame
from rankandfile.source.dependence.index import index_of
from rankandfile.source.dependence.objects import Objects
from rankandfile.source.dependence.syntax import LOOPS, ancestors, is_range
from rankandfile.source.one_rank import Job, OneRank
from rankandfile.source.program.modules import Function, Program

_MOST_RANKS = 16
_MOST_CALLERS = 3
_SETUP = "init_process_group"

Lines: TypeAlias = tuple[str, int, int]
"""A file, and the first and the last of its lines."""

Placed: TypeAlias = tuple[str, ast.expr]
"""An expression, and the file that it is in: a caller's may be another than the place's."""


class KnownAnswers:
    """Of the first ranks of a job: what holds for some of them in a large one holds there too."""

    def __init__(self, program: Program, world: int) -> None:
        self.program, self.world = program, world

    @cached_property
    def _objects(self) -> Objects:
        return Objects(index_of(self.program))

    @cached_property
    def _ranks(self) -> list[OneRank]:
        # Which ranks share a host is not asked here: a test of the local rank tells ranks apart on any.
        job = Job(world=self.world, hosts=("",) * self.world)
        return [
            OneRank(self.program, rank, job, self._objects) for rank in range(min(self.world, _MOST_RANKS))
        ]

    def differs(self, test: ast.expr, function: Function) -> bool:
        """The test asks what a rank is: it is sure to be true on one, and sure to be false on another."""
        answers = {rank.outcomes(test, function) for rank in self._ranks}
        return frozenset({True}) in answers and frozenset({False}) in answers

    def nothing_for_some(self, items: ast.expr, function: Function) -> bool:
        """By what it is, a rank is sure to hold none of the items; others may."""
        answers = {rank.outcomes(items, function) for rank in self._ranks}
        return frozenset({False}) in answers and len(answers) > 1

    def kept_away(self, node: ast.AST, function: Function, depth: int = _MOST_CALLERS) -> Placed | None:
        """A test, around the node or around a call of its function, that keeps some ranks away from it: the others come
        there more often. What is run before the job is set up takes part in no vote."""
        if _before_setup(node, function):
            return None
        below = node
        for outer in ancestors(function.module, node):
            if outer is function.node:
                break
            if isinstance(outer, (ast.If, ast.While)) and below is not outer.test:
                inside = any(below is s for s in outer.body)
                if any(inside not in rank.outcomes(outer.test, function) for rank in self._ranks):
                    return function.module.path, outer.test
            below = outer
        if isinstance(function.node, ast.Module) or depth == 0:
            return None
        found = [
            self.kept_away(site.call, site.function, depth - 1) for site, _ in self._objects.callers(function)
        ]
        return next((test for test in found if test is not None), None)

    def unlike_rounds(
        self, node: ast.AST, function: Function, test: ast.expr | None, depth: int = _MOST_CALLERS
    ) -> Placed | None:
        """What a loop around the node, or around a call of its function, goes round for, where some end sooner: a
        `range(...)` from or to a rank's own number, a `while` that asks for something of the rank's own, or what the
        test differs for, because one rank has gone round more often than another."""
        chain = why(self.program, function, test).chain if test is not None else ()
        upon = {step.upon for step in chain if step.upon is not None}
        decided = (function.module.path, getattr(node, "lineno", 0), getattr(node, "end_lineno", 0))
        return self._uneven(node, function, upon, (decided,), depth)

    def _uneven(
        self,
        node: ast.AST,
        function: Function,
        upon: set[tuple[str, int]],
        mended: tuple[Lines, ...],
        depth: int,
    ) -> Placed | None:
        """`mended`: what comes out alike on all ranks once the decision is agreed on."""
        below = node
        for outer in ancestors(function.module, node):
            if outer is function.node:
                break
            if isinstance(outer, ast.While) and below is not outer.test:
                reason = why(self.program, function, outer.test)
                if reason.level == "varying" and not any(_within(step, mended) for step in reason.chain):
                    return function.module.path, outer.test
            elif isinstance(outer, ast.For) and below is not outer.iter:
                # What it goes through is worked out once, before the first round.
                if (function.module.path, outer.lineno) in upon:
                    return function.module.path, outer.iter
                given = outer.iter.args if is_range(outer.iter) else []
                if any(why(self.program, function, one).level == "varying" for one in given):
                    return function.module.path, outer.iter
            below = outer
        if isinstance(function.node, ast.Module) or depth == 0:
            return None
        mended = (*mended, (function.module.path, function.first_line, function.last_line))
        sites = [site for site, _ in self._objects.callers(function)]
        found = [self._uneven(site.call, site.function, upon, mended, depth - 1) for site in sites]
        return next((items for items in found if items is not None), None)

    def called(self, function: Function) -> bool:
        """Some call of the function is known."""
        return bool(self._objects.callers(function))

    def callers(self, function: Function) -> list[tuple[Function, ast.Call]]:
        """The calls that are known, each with the function that it is in."""
        return [(site.function, site.call) for site, _ in self._objects.callers(function)]

    def calls_of(self, function: Function) -> list[tuple[str, ast.Call]]:
        """The calls that are known, each with the file that it is in."""
        return [(caller.module.path, call) for caller, call in self.callers(function)]

    def classes(self, e: ast.expr, function: Function) -> bool:
        """The expression is an object of a class of the program's own."""
        return bool(self._objects.classes(e, Frame(function)))


def _within(step: Step, parts: tuple[Lines, ...]) -> bool:
    return any(step.file == path and first <= step.line <= last for path, first, last in parts)


def _before_setup(node: ast.AST, function: Function) -> bool:
    """The function sets the job up further down, and once: nothing before it waits for anybody."""
    last = getattr(node, "end_lineno", 0)
    setups = [n for n in function.nodes if isinstance(n, ast.Call) and _SETUP in ast.unparse(n.func)]
    again = any(isinstance(outer, LOOPS) for outer in ancestors(function.module, node))
    return bool(setups) and not again and all(call.lineno > last for call in setups)
