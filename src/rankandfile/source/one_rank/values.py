"""What values an expression of the source can have on one rank.

Most of a program is not known, and what is not known can be anything. But much of what parts ranks is made of what is
known of each: its number, the size of the job, its place in a mesh, what the launcher put into its environment. Then
only a few values are left: `self.main and due` is false on rank 2, whatever `due` is. Nothing is executed; of two
ways both are taken where it is not known which one is.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterator
from contextlib import contextmanager

from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence.frame import Frame, called
from rankandfile.source.dependence.index import index_of
from rankandfile.source.dependence.objects import Objects
from rankandfile.source.program.modules import Function, Program
from rankandfile.source.program.names import External, resolve

from . import attributes, bodies, calls, library, names, rounds
from .arithmetic import EITHER, Plain, Values, alone, combined, compared, each, union
from .job import Job

_DEEPEST = 40
_MOST_STEPS = 4000


class OneRank:
    """Answers for one rank of a job."""

    def __init__(
        self,
        program: Program,
        rank: int,
        job: Job | int | None,
        objects: Objects | None = None,
        steps: int = _MOST_STEPS,
    ) -> None:
        self.rank = rank
        self.job = job if isinstance(job, Job) else Job(world=job)
        self.index = index_of(program)
        self.objects = objects or Objects(self.index)
        self.running = True
        """The code is run while the job makes calls, and not when its modules are imported."""
        self.held: rounds.Held = {}
        self._most = self._left = steps
        self._depth = 0
        self._known: dict[tuple[int, int, bool], tuple[Values, ast.expr, Frame]] = {}
        """What was found for this question; the parts of the key are kept, so that no other gets their place."""

    @property
    def world(self) -> int | None:
        return self.job.world

    @heuristic(
        "values of one rank", "what follows from a rank's number and the size of the job leaves few values"
    )
    def of(self, e: ast.expr, function: Function) -> Values:
        self.ask_anew()
        return self.value(e, Frame(function))

    def outcomes(self, test: ast.expr, function: Function) -> frozenset[bool]:
        """Which ways the test can come out on this rank."""
        self.ask_anew()
        return self.ways(test, Frame(function))

    def ask_anew(self) -> None:
        self._left = self._most
        self._known.clear()

    def value(self, e: ast.expr, frame: Frame) -> Values:
        """What `e` can be where it stands in the frame. While that is being asked, it can be anything."""
        key = id(e), id(frame), self.running
        if key in self._known:
            return self._known[key][0]
        self._left -= 1
        if self._depth > _DEEPEST or self._left < 0 or frame.too_deep:
            return None
        self._known[key] = None, e, frame
        self._depth += 1
        try:
            values = self._value(e, frame)
        finally:
            self._depth -= 1
        self._known[key] = values, e, frame
        return values

    @contextmanager
    def imported(self) -> Iterator[None]:
        """What is evaluated inside was run when a module was imported."""
        before, self.running = self.running, False
        try:
            yield
        finally:
            self.running = before

    @contextmanager
    def holding(self, loop: ast.AST, variables: dict[str, Plain]) -> Iterator[None]:
        """What is evaluated inside is in one round of the loop."""
        before, known = self.held, self._known
        self.held = before | {loop: before.get(loop, {}) | variables}
        self._known = {}
        try:
            yield
        finally:
            self.held, self._known = before, known

    def _value(self, e: ast.expr, frame: Frame) -> Values:
        match e:
            case ast.Constant(value=bool() | int() | float() | str() | None as value):
                return each(frozenset({value}), lambda v: v)
            case ast.Name():
                return names.name(self, e, frame)
            case ast.Attribute():
                return attributes.attribute(self, e, frame)
            case ast.Call():
                return calls.call(self, e, frame)
            case ast.IfExp():
                ways = self.ways(e.test, frame)
                taken = [part for part, on in ((e.body, True), (e.orelse, False)) if on in ways]
                return union(self.value(part, frame) for part in taken)
            case ast.BinOp():
                return combined(self.value(e.left, frame), e.op, self.value(e.right, frame), self.job.world)
            case ast.Compare() | ast.UnaryOp(op=ast.Not()):
                return frozenset(self.ways(e, frame))
            case ast.BoolOp():
                return self._first_that_decides(e, frame)
            case ast.UnaryOp(op=ast.USub()):
                return each(self.value(e.operand, frame), operator.neg)  # type: ignore[arg-type]
            case ast.Tuple() | ast.List() | ast.Set():
                return self._sequence(e.elts, frame)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                return rounds.comprehension(self, e, frame)
            case ast.JoinedStr():
                return self._text(e, frame)
            case ast.Subscript():
                return self._item(e, frame)
            case ast.NamedExpr() | ast.Await():
                return self.value(e.value, frame)
        return None

    def ways(self, test: ast.expr, frame: Frame) -> frozenset[bool]:
        """Which ways the test can come out."""
        if isinstance(test, ast.BoolOp):
            ends = isinstance(test.op, ast.Or)
            parts = [self.ways(part, frame) for part in test.values]
            if any(ways == {ends} for ways in parts):
                return frozenset({ends})
            return frozenset({True, False}) if any(ends in ways for ways in parts) else frozenset({not ends})
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return frozenset(not way for way in self.ways(test.operand, frame))
        if isinstance(test, ast.Compare):
            return self._comparison(test, frame)
        values = self.value(test, frame)
        return frozenset({True, False}) if values is None else frozenset(bool(value) for value in values)

    def _comparison(self, e: ast.Compare, frame: Frame) -> frozenset[bool]:
        values = [self.value(part, frame) for part in (e.left, *e.comparators)]
        ways = [compared(left, op, right) for left, op, right in zip(values, e.ops, values[1:], strict=False)]
        if any(way == {False} for way in ways):
            return frozenset({False})
        return frozenset({True}) if all(way == {True} for way in ways) else frozenset({True, False})

    def _first_that_decides(self, e: ast.BoolOp, frame: Frame) -> Values:
        """`a or b` is `a` where that is true, else `b`."""
        ends = isinstance(e.op, ast.Or)
        found: list[Values] = []
        for part in e.values[:-1]:
            values = self.value(part, frame)
            if values is None:
                # Whatever it is: where a later part decides for sure, only the truth of the whole is known.
                ways = self.ways(e, frame)
                return None if len(ways) == 2 or ways == {True} else EITHER & {False}
            found.append(frozenset(v for v in values if bool(v) is ends))
            if all(bool(v) is ends for v in values):
                return union(found)
        return union([*found, self.value(e.values[-1], frame)])

    def _sequence(self, elements: list[ast.expr], frame: Frame) -> Values:
        found = alone(self.value(element, frame) for element in elements)
        return None if found is None else each(frozenset({found}), lambda v: v)

    def _text(self, e: ast.JoinedStr, frame: Frame) -> Values:
        # Of a part with a format of its own no value is known.
        plain = (
            p.value if isinstance(p, ast.FormattedValue) and p.conversion == -1 and not p.format_spec else p
            for p in e.values
        )
        parts = alone(self.value(part, frame) for part in plain)
        return None if parts is None else each(frozenset({"".join(map(str, parts))}), lambda v: v)

    def _item(self, e: ast.Subscript, frame: Frame) -> Values:
        base = resolve(frame.function, e.value)
        if isinstance(base, External) and base.dotted == "os.environ":
            return self.variable(e.slice, frame)
        if isinstance(e.slice, ast.Slice):
            whole, at = self.value(e.value, frame), self._slice(e.slice, frame)
            return None if at is None else each(whole, lambda v: v[at])  # type: ignore[index]
        return self.part(self.value(e.value, frame), self.value(e.slice, frame))

    def _slice(self, e: ast.Slice, frame: Frame) -> slice | None:
        ends = alone(
            frozenset({None}) if part is None else self.value(part, frame)
            for part in (e.lower, e.upper, e.step)
        )
        return None if ends is None else slice(*ends)

    def variable(self, key: ast.expr, frame: Frame) -> Values:
        """A variable of the environment, by a name that may be handed to the function that asks for it."""
        asked = self.value(key, frame)
        return None if asked is None else union(library.variable(k, self.rank, self.job) for k in asked)

    def part(self, whole: Values, key: Values) -> Values:
        """An item of what is known to be a tuple."""
        if whole is None or key is None:
            return None
        return union(each(whole, lambda v, k=k: v[k]) for k in key)  # type: ignore[misc]

    def returned(self, target: Function, call: ast.Call | None, frame: Frame, *, bound: bool) -> Values:
        """What a function of the tree returns to this call; None for a property."""
        inside = (
            called(target, call, frame, bound)
            if call is not None
            else Frame(target, {}, frame.depth + 1, (*frame.key, target.node))
        )
        return None if inside.too_deep else bodies.returned(self, target, inside)
