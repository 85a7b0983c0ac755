"""The place where the ranks diverged: the deciding statement, what it holds back, and for which group."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TypeAlias

from msgspec import Struct

from rankandfile.source.program.modules import Function

from .code import Code, Definition, Module
from .known_answers import KnownAnswers, Placed
from .problem import Problem, Site
from .reach import (
    DEFAULT,
    TRAINS,
    UNKNOWN,
    Event,
    called,
    collective,
    events,
)
from .words import flat, with_place

Deciding: TypeAlias = (
    ast.If | ast.While | ast.For | ast.AsyncFor | ast.IfExp | ast.comprehension | ast.ExceptHandler | ast.stmt
)
_LEAVING = {"exit", "_exit", "quit"}


class PlaceToMend(Struct, frozen=True, eq=False, dict=True):
    problem: Problem
    code: Code
    module: Module
    node: Deciding

    @cached_property
    def function(self) -> Definition | None:
        inside = self.node.iter if isinstance(self.node, ast.comprehension) else self.node
        return self.module.function_of(inside)

    @cached_property
    def answers(self) -> KnownAnswers:
        """What is known of each rank at this place."""
        return KnownAnswers(self.code.program, self.problem.world)

    @cached_property
    def in_program(self) -> Function:
        """The function as the program knows it."""
        module = self.code.program.module(self.module.path)
        assert module is not None
        node = self.function.node if self.function is not None else module.tree
        return module.by_node[node]

    def kept_away(self) -> str | None:
        """A test that keeps some ranks from ever coming to the decision, as code and line."""
        return self._shown(self.answers.kept_away(self.statement(), self.in_program))

    def unlike_rounds(self) -> str | None:
        """What a loop around it goes through, where there is more of it on one rank than on another."""
        test = getattr(self.node, "test", None)
        return self._shown(self.answers.unlike_rounds(self.statement(), self.in_program, test))

    def _shown(self, found: Placed | None) -> str | None:
        return None if found is None else with_place(self.code.module(found[0]), *found)

    def called_in_sight(self) -> bool:
        """The program shows who calls the function of the decision."""
        return self.function is None or self.answers.called(self.in_program)

    @property
    def decision(self) -> str:
        """`if should_stop (trainer.py:61)`, as messages of the patched program name it."""
        return f"{self._header} ({self.module.path}:{self.problem.line})"

    @property
    def _header(self) -> str:
        node, module = self.node, self.module
        if isinstance(node, (ast.If, ast.IfExp)):
            return f"if {flat(module, node.test)}"
        if isinstance(node, ast.While):
            return f"while {flat(module, node.test)}"
        if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            return f"for {flat(module, node.target)} in {flat(module, node.iter)}"
        if isinstance(node, ast.ExceptHandler):
            return f"except {flat(module, node.type)}" if node.type else "except"
        return flat(module, node)

    def called(self) -> Iterator[tuple[Site, Module]]:
        """What the cohorts called, each with the module it is in, as far as both are known."""
        for site in self.problem.sites:
            path = self.code.find(site.file) if site.file and site.line else None
            module = self.code.module(path) if path else None
            if module is not None:
                yield site, module

    def otherwise(self, node: ast.If) -> Sequence[ast.stmt]:
        """What runs in place of the branch: its `else`, or where the branch returns, what follows it."""
        return node.orelse or (self.rest() if leaves(node.body) == "return" else [])

    @cached_property
    def _events(self) -> dict[ast.AST, list[Event]]:
        return {}

    def events(self, nodes: Iterable[ast.AST]) -> list[Event]:
        """What the code in these nodes comes to."""
        found: list[Event] = []
        for node in nodes:
            if node not in self._events:
                self._events[node] = events(self.code, self.module, [node])
            found += self._events[node]
        return found

    def statement(self) -> ast.stmt:
        """The statement that the decision is part of."""
        node: ast.AST = self.node.iter if isinstance(self.node, ast.comprehension) else self.node
        while not isinstance(node, ast.stmt):
            node = self.module.parents[node]
        return node

    def siblings(self, node: ast.stmt | None = None) -> tuple[list[ast.stmt], int]:
        """The block that the statement stands in, and its position there."""
        node = node or self.statement()
        parent = self.module.parents[node]
        for _name, value in ast.iter_fields(parent):
            if isinstance(value, list) and node in value:
                return value, value.index(node)
        return [node], 0

    def rest(self, node: ast.stmt | None = None) -> list[ast.stmt]:
        """The statements that follow in the block."""
        block, at = self.siblings(node)
        return block[at + 1 :]

    def loop(self) -> ast.For | ast.AsyncFor | ast.While | None:
        """The innermost loop of the function around the statement."""
        for outer in self.module.enclosing(self.statement()):
            if isinstance(outer, (ast.For, ast.AsyncFor, ast.While)):
                return outer
            if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                return None
        return None

    def leads_to(self, node: ast.AST, sites: Sequence[Site] = ()) -> bool:
        """Whether the code comes to a call that involves others, or to one of these sites."""
        found = self.events([node])
        if any(collective(event) for event in found):
            return True
        return any(self._passes(node, site) for site in sites if site.line)

    def holds_all(self, node: ast.AST, sites: Sequence[Site]) -> bool:
        """All of these calls, and more than one place, are in the code that the node runs."""
        known = [site for site in sites if site.line]
        places = {(site.file, site.line) for site in known}
        return len(places) > 1 and len(known) == len(sites) and all(self._passes(node, s) for s in known)

    def _passes(self, node: ast.AST, site: Site) -> bool:
        """The site is an implicit collective: a line without a known name, in the code that the node calls."""
        path = self.code.find(site.file)
        if path == self.module.path:
            first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0) or 0
            if first <= site.line <= last:
                return True
        return bool(path) and site.function in self.functions_below(node).get(str(path), set())

    def functions_below(self, node: ast.AST) -> dict[str, set[str]]:
        """Names of the functions that the code calls, directly or not, by the file they are in."""
        found: dict[str, set[str]] = {}
        for definition in called(self.code, self.module, node):
            found.setdefault(definition.module.path, set()).add(definition.node.name)
        return found

    def group(self, nodes: Iterable[ast.AST]) -> str:
        """The group that has to agree on whether this code runs: the one whose calls are in it.

        Where calls of several groups are in it, all ranks must agree. `UNKNOWN` where the group has no name here.
        """
        groups = {event.group for event in self.events(nodes) if collective(event)}
        if self.problem.whole_job or not groups:
            return DEFAULT if self.problem.whole_job is not False else next(iter(groups), UNKNOWN)
        known = groups - {UNKNOWN}
        if len(known) == 1:
            return known.pop()
        return DEFAULT if known else UNKNOWN

    def concerned(self) -> list[ast.AST]:
        """The code that one outcome of the decision runs and another does not."""
        node = self.node
        if isinstance(node, ast.IfExp):
            return [node.body, node.orelse]
        if isinstance(node, ast.comprehension):
            return [self.module.parents[node]]
        if isinstance(node, ast.ExceptHandler):
            return [self.module.parents[node]]
        if not isinstance(node, (ast.If, ast.While, ast.For, ast.AsyncFor)):
            return [node]
        inside: list[ast.AST] = [*node.body, *node.orelse]
        way = leaves(node.body) if isinstance(node, ast.If) else ""
        loop = self.loop() if way else None
        if way == "continue":
            return [*inside, *self.rest()]
        if way == "break":
            return [*inside, *(loop.body if loop else [])]
        if way:
            return [*inside, *self.rest(), *(loop.body if loop else [])]
        return inside


def place_of(problem: Problem, code: Code) -> PlaceToMend | None:
    """The deciding node at the problem's line; none if the source has none there."""
    path = code.find(problem.file)
    module = code.module(path) if path else None
    if module is None:
        return None
    found = _deciding(module, problem.line)
    return PlaceToMend(problem, code, module, found) if found is not None else None


def _deciding(module: Module, line: int) -> Deciding | None:
    decisions: list[tuple[int, int, Deciding]] = []
    statements: list[ast.stmt] = []
    for node in module.nodes:
        if isinstance(node, ast.comprehension):
            first, last = node.target.lineno, node.iter.end_lineno or node.iter.lineno
        elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
            first, last = _header(node), node.test.end_lineno or node.test.lineno
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            first, last = node.lineno, node.iter.end_lineno or node.iter.lineno
        elif isinstance(node, ast.ExceptHandler):
            first = last = node.lineno
        else:
            if isinstance(node, ast.stmt) and node.lineno == line:
                statements.append(node)
            continue
        if first <= line <= last:
            decisions.append((first != line, last - first, node))
    if decisions:
        return min(decisions, key=lambda found: found[:2])[2]
    return statements[0] if statements else _spanning(module, line)


def _spanning(module: Module, line: int) -> Deciding | None:
    """The comprehension, or else the simple statement, that begins before the line and ends on it or behind."""
    found: list[tuple[int, Deciding]] = []
    for node in module.nodes:
        first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0) or 0
        if not first <= line <= last:
            continue
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            return node.generators[0]
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            found.append((last - first, node))
    return min(found, key=lambda one: one[0])[1] if found else None


def _header(node: ast.If | ast.While | ast.IfExp) -> int:
    return node.test.lineno if isinstance(node, ast.IfExp) else node.lineno


def leaves(body: Sequence[ast.stmt]) -> str:
    """How a block ends the way it was on: "break", "continue", "return", "raise", "exit", or "" if it does not."""
    last = body[-1] if body else None
    if isinstance(last, (ast.Break, ast.Continue, ast.Return, ast.Raise)):
        return type(last).__name__.lower()
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        target = last.value.func
        name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
        return "exit" if name in _LEAVING else ""
    return ""


def trains(found: Iterable[Event]) -> bool:
    return any(event.name in TRAINS for event in found)


def names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def conjuncts(test: ast.expr) -> list[ast.expr]:
    """The parts of an `and`, or the test itself."""
    return list(test.values) if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def present(test: ast.expr) -> ast.expr | None:
    """The `x` of `x is not None`."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.IsNot):
        other = test.comparators[0]
        if (
            isinstance(other, ast.Constant)
            and other.value is None
            and isinstance(test.left, (ast.Name, ast.Attribute))
        ):
            return test.left
    return None
