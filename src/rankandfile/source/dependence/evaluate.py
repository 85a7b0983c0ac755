"""The value of an expression on all ranks together: by what it is made of, back to the sources.

Everything is bounded: the depth of calls, the number of expressions looked at, and cycles (a value that depends on
itself adds nothing to itself). Where a bound is met the value is unknown.
"""

from __future__ import annotations

import ast

from rankandfile.source.flow.graph import Node
from rankandfile.source.flow.several import asks_for_several
from rankandfile.source.program.modules import Function, Module, Program
from rankandfile.source.program.names import Class, External, imported_variable, resolve
from rankandfile.source.program.scopes import binding_scope

from . import attributes, calls, containers, control, groups, objects, origins, parameters, stored_items
from .assignments import Definition
from .frame import Frame
from .index import index_of
from .objects import Objects, kept_elsewhere, operators
from .reaching_assignments import inner_storers, is_filled, reaching, storers
from .syntax import (
    COMPREHENSIONS,
    EACH,
    HOLDS,
    KIND,
    LEN,
    Path,
    children,
    loop_of,
    text,
)
from .value import UNIFORM, UNKNOWN, Link, Value, join

MOST_STEPS = 4000
_OF_LINT = 1200
"""Steps for one of the many questions that are asked of a program of which nothing is known to be wrong."""
DEEPEST = 90
"""Expressions that are looked at one inside the other: far from what Python's own stack bears."""
_NEVER_NONE = (*COMPREHENSIONS, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.JoinedStr, ast.Compare)


class Evaluator:
    def __init__(self, program: Program, in_depth: bool = False) -> None:
        self.program = program
        self.index = index_of(program)
        self.objects = Objects(self.index)
        self.in_depth = in_depth
        self._allowance = _OF_LINT if in_depth else MOST_STEPS
        self.left = self._allowance
        self._open: dict[tuple[object, ...], int] = {}
        """What is being evaluated, with how many stood around it when it began."""
        self._outermost = 0
        """Of what was met again while it was open, the outermost: what is found inside of that may lack a part."""
        self._known: dict[tuple[object, ...], Value] = {}

    def renew(self) -> None:
        """Every question has the same allowance."""
        self.left, self.objects.left = self._allowance, min(self._allowance, objects.MOST_STEPS)

    def value(self, e: ast.expr, frame: Frame, path: Path = ()) -> Value:
        """The value of `path` of `e`, evaluated in the frame."""
        if isinstance(e, (ast.Constant, ast.Lambda)):
            return UNIFORM
        key = (e, frame.function, frame.key, path)
        if key in self._known:
            return self._known[key]
        if key in self._open:
            self._outermost = min(self._outermost, self._open[key])
            return UNIFORM
        self.left -= 1
        if self.left < 0 or frame.too_deep or len(path) > 6 or len(self._open) > DEEPEST:
            self._outermost = 0
            return UNKNOWN
        place = self._open[key] = len(self._open)
        before, self._outermost = self._outermost, place
        try:
            found = self._value(e, frame, path)
        finally:
            del self._open[key]
            whole = self._outermost >= place
            self._outermost = before if whole else min(before, self._outermost)
        # What lacks the part of something that is still open is good only for that question.
        if whole or not self._open or found.level == "varying":
            self._known[key] = found
        return found

    def all(self, parts: list[ast.expr], frame: Frame, path: Path = ()) -> Value:
        return join(self.value(part, frame, path) for part in parts)

    def _value(self, e: ast.expr, frame: Frame, path: Path) -> Value:
        if path[:1] == (KIND,) and isinstance(e, _NEVER_NONE):
            return UNIFORM
        if isinstance(e, ast.Name):
            return self._name(e, frame, path)
        if isinstance(e, ast.Attribute):
            return attributes.attribute(self, e, frame, path)
        if isinstance(e, ast.Call):
            return calls.call(self, e, frame, path)
        if isinstance(e, ast.Subscript):
            return containers.subscript(self, e, frame, path)
        if isinstance(e, (ast.Tuple, ast.List, ast.Set)):
            return containers.sequence(self, e, frame, path)
        if isinstance(e, ast.Dict):
            return containers.mapping(self, e, frame, path)
        if isinstance(e, COMPREHENSIONS):
            return containers.comprehension(self, e, frame, path)
        if isinstance(e, (ast.Await, ast.Starred, ast.NamedExpr, ast.FormattedValue)):
            return self.value(e.value, frame, path)
        if isinstance(e, ast.IfExp):
            of_several = asks_for_several(e.test, frame.function)
            if of_several is not None:
                return self.value(e.body if of_several else e.orelse, frame, path)
            return join([self.all([e.body, e.orelse], frame, path), self.truth(e.test, frame)])
        if isinstance(e, (ast.Yield, ast.YieldFrom)):
            return UNKNOWN
        if isinstance(e, ast.BoolOp):
            return join(self.truth(each, frame) for each in e.values)
        if isinstance(e, ast.Compare):
            return self._comparison(e, frame)
        if isinstance(e, ast.BinOp) and path and path[0] in (LEN, EACH):
            # `[None] * world_size`: its length is that of the parts.
            value = self.all(_operands(e), frame, path)
            return value if path[0] == LEN else join([value, containers.of_two_sets(e, frame)])
        if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.Not) and not path:
            # Of a collection, whether it is empty: what decides whether it was filled comes before what fills it.
            filled = self.value(e.operand, frame, (LEN,))
            return filled if filled.source == "rank_api" else self.truth(e.operand, frame)
        if isinstance(e, ast.BinOp):
            made = self.all(_operands(e), frame)
            return made if made.differs else join([made, operators.worked_out(self, e, frame)])
        return self.all(list(children(e)), frame)

    def truth(self, e: ast.expr, frame: Frame) -> Value:
        """Whether it counts as true: an object may say so itself, and a container by whether anything is left in it."""
        value = self.value(e, frame, (LEN,) if is_filled(e, frame.function) else ())
        if value.differs:
            return value
        if value.level == "uniform" and isinstance(e, (ast.Name, ast.Attribute)):
            value = self.value(e, frame, (LEN,))
        return join([value, operators.true(self, e, frame)])

    def _name(self, e: ast.Name, frame: Frame, path: Path) -> Value:
        loop = loop_of(frame.function.module, e)
        if loop is not None:
            return self.value(loop[0], frame, (*loop[1], *path))
        scope = binding_scope(frame.function, e.id)
        if scope is None:
            return (
                UNIFORM
                if isinstance(resolve(frame.function, e), (External, Class, Function, Module))
                else UNKNOWN
            )
        if scope is frame.function:
            flow = reaching(scope)
            uses = flow.nodes(e)
            found = flow.of(e.id, uses) if uses else flow.everywhere(e.id)  # of a lambda, there are no steps
            value = self.definitions(found, frame, uses, path)
            return value if value.differs else join([value, self._stored_inside(e.id, frame, path)])
        return self.variable(scope, e.id, frame, path)

    def _stored_inside(self, name: str, frame: Frame, path: Path) -> Value:
        """What functions inside of this one store in its variable, or put into what it holds, whenever they run; what
        objects that keep it do."""
        inner = inner_storers(frame.function).get(name, ())
        found = [
            (Frame(function, None, frame.depth + 1), d)
            for function in inner
            for d in reaching(function).everywhere(name)
        ]
        if not self.in_depth:
            found.extend(kept_elsewhere.changes_of_variable(self, frame.function, name, frame.depth))
        return control.stored_anywhere(self, found, path, before=True)

    def variable(self, scope: Function, name: str, frame: Frame, path: Path) -> Value:
        """A variable of an outer scope: whatever it is ever given there, or by functions that declare it theirs, or
        that change what it holds."""
        inside = Frame(scope, {} if isinstance(scope.node, ast.Module) else None, frame.depth + 1)
        found = [(inside, d) for d in reaching(scope).everywhere(name)]
        known = storers(scope, name)
        for function in scope.module.functions:
            if function is scope:
                continue
            if function in known:
                other = Frame(function, None, frame.depth + 1)
                found.extend((other, d) for d in reaching(function).everywhere(name))
            elif not self.in_depth and binding_scope(function, name) is scope:
                # It may put something into it, or take something out, without a word of whose it is.
                other = Frame(function, None, frame.depth + 1)
                items = (d for d in reaching(function).everywhere(name) if d.how in ("mutate", "remove"))
                found.extend((other, d) for d in items)
        if not self.in_depth:
            found.extend(kept_elsewhere.changes_of_variable(self, scope, name, frame.depth))
        return control.stored_anywhere(self, found, path)

    def definitions(self, found: list[Definition], frame: Frame, uses: list[Node], path: Path) -> Value:
        """What a use can see: the values themselves, and the decisions that choose between them."""
        found = [d for d in found if stored_items.matters(d, path)]
        value = join(self.definition(d, frame, path) for d in found)
        if value.level == "varying" or not found:
            return value if found else UNKNOWN
        if len(found) > 1 or any(
            d.how == "augment" or control.left_behind(frame.function.module, d, uses) for d in found
        ):
            value = join([value, control.choice(self, found, frame, uses)])
        return value

    def definition(self, d: Definition, frame: Frame, path: Path) -> Value:
        """The value that one definition gives its name; a loop's variable made of itself adds nothing to itself."""
        key = (d, frame.key, path)
        if key in self._open:
            self._outermost = min(self._outermost, self._open[key])
            return UNIFORM
        self._open[key] = len(self._open)
        try:
            return self._definition(d, frame, path)
        finally:
            del self._open[key]

    def _definition(self, d: Definition, frame: Frame, path: Path) -> Value:
        file, value = frame.function.module.path, d.value
        if d.how == "parameter":
            return parameters.parameter(self, d.name, frame, path)
        if d.how in ("outside", "called"):
            return attributes.stored(self, d, frame, path)
        if d.how == "exception":
            return Value("varying", source="exception", chain=(origins.exception_link(file, d),))
        if value is None:
            return (
                self._imported(d, frame, path)
                if isinstance(d.site or d.node.what, ast.ImportFrom)
                else UNIFORM
            )
        if d.how == "agreed":
            return groups.agreed(self, d, frame)
        if d.how == "received":
            return UNKNOWN  # Each rank may be sent another thing.
        if d.how == "augment":
            before = reaching(frame.function).of(d.name, [d.node])
            old = join(self.definition(each, frame, path) for each in before if each is not d)
            return join([old, self.value(value, frame).by(_set(file, d, value))])
        if d.how == "below":
            return stored_items.put_in_below(self, d, frame, path)
        if d.how in ("mutate", "remove"):
            return stored_items.put_in(self, d, value, frame, path, _set(file, d, value))
        if isinstance(d.site, (ast.For, ast.AsyncFor)):
            return self.value(value, frame, (*d.path, *path))
        return self.value(value, frame, (*d.path, *path)).by(_set(file, d, value))

    def _imported(self, d: Definition, frame: Frame, path: Path) -> Value:
        """`from state import STATE`: a variable of the other module; a function or class is the same everywhere."""
        origin = imported_variable(frame.function.module, d.name, d.site or d.node.what)
        return UNIFORM if origin is None else self.variable(*origin, frame, path)

    def _comparison(self, e: ast.Compare, frame: Frame) -> Value:
        if all(isinstance(op, (ast.Is, ast.IsNot)) for op in e.ops):
            return self._identity(e, frame)
        if len(e.ops) == 1 and isinstance(e.ops[0], (ast.In, ast.NotIn)):
            value = join([self.value(e.left, frame), self.value(e.comparators[0], frame, (HOLDS,))])
        else:
            value = self.all([e.left, *e.comparators], frame)
        return value if value.differs else join([value, operators.compared(self, e, frame)])

    def _identity(self, e: ast.Compare, frame: Frame) -> Value:
        """`x is None`: what an object was made of is no matter here, but whether one was made, or found. `x is True`
        and `x is Mode.FAST` ask what it is."""
        sides = [e.left, *e.comparators]
        by_value = any(_is_a_value(side, frame.function) for side in sides)
        return self.all(sides, frame, () if by_value else (KIND,))


def _operands(e: ast.expr) -> list[ast.expr]:
    """A long sum is a deep tree: its left spine is walked."""
    parts: list[ast.expr] = []
    while isinstance(e, ast.BinOp):
        parts.append(e.right)
        e = e.left
    return [e, *reversed(parts)]


def _is_a_value(e: ast.expr, function: Function) -> bool:
    """A literal but None, or a member of a class."""
    if isinstance(e, ast.Constant):
        return e.value is not None
    return isinstance(e, ast.Attribute) and isinstance(resolve(function, e.value), Class)


def _set(file: str, d: Definition, value: ast.expr) -> Link:
    line = d.line
    shown = text(value, 60)
    words = (
        f"loses `{shown}` at {file}:{line}"
        if d.how == "remove"
        else f"is set at {file}:{line} from `{shown}`"
    )
    same = d.how != "remove" and isinstance(value, ast.Name) and d.name.isidentifier()
    return Link(file, line, d.name, words, shown, kind="another name" if same else "")
