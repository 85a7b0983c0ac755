"""Where, on the way to a value, the ranks' own numbers or data first come in: a slice, a test, a choice.

`for batch in self.batches` asks what somebody else decided: the constructor was given a loader, the loader reads a list
of shards, and `shards[rank::world]` is where the ranks' shares become unequal. The value is followed back, nearest
first: a variable to its assignments, an attribute to what is stored in it, a parameter to its callers' arguments, a
call of the program to the function and what that returns, fills, and yields for.

In: an expression and the function that it stands in. Out: the nearest place that differs between ranks.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Iterator

from msgspec import Struct, structs

from rankandfile.source.dependence import Reason, objects_of, why
from rankandfile.source.dependence.assignments import Definition
from rankandfile.source.dependence.frame import Frame, called
from rankandfile.source.dependence.objects import Objects
from rankandfile.source.dependence.reaching_assignments import reaching
from rankandfile.source.dependence.syntax import COMPREHENSIONS, ancestors, asks_if_there, dotted
from rankandfile.source.flow import Condition, tested
from rankandfile.source.flow.idle_statements import for_nothing
from rankandfile.source.program.modules import Function, Program
from rankandfile.source.program.names import Class, method, resolve
from rankandfile.source.program.places import SourcePlace, place_in
from rankandfile.source.program.scopes import own_nodes

_MOST, _FURTHEST = 80, 9
_YIELDS = (ast.Yield, ast.YieldFrom)
_STEPS = (ast.Return, *_YIELDS, ast.Continue, ast.Break)


class Entry(Struct, frozen=True):
    """The place, and why it differs."""

    function: Function
    line: int
    node: ast.expr
    reason: Reason
    test: bool
    """It is the test of an `if`, not a part of an expression."""
    fills: bool = False
    """Upon it something is put into a collection, or is not."""
    keyed: bool = False
    """Under a key, by which it is one thing among others, and not one more of the same."""
    caught: bool = False
    """It is a handler: what raised gives an item less, or none any more."""

    @property
    def place(self) -> SourcePlace:
        return place_in(self.function, self.line)

    @property
    def text(self) -> str:
        return self.function.module.line_at(self.line)


#: Whether a test comes out the same on all ranks that are asked about.
Alike = Callable[[Function, ast.expr], bool] | None


def enters(program: Program, function: Function, value: ast.expr, alike: Alike = None) -> Entry | None:
    """None where nothing on the way is known to differ."""
    objects = objects_of(program)
    queue: deque[tuple[Function, ast.expr, int]] = deque([(function, value, 0)])
    seen: set[tuple[Function, ast.expr]] = set()
    entered: set[Function] = {function}
    swallowed: Entry | None = None
    while queue and len(seen) < _MOST:
        inside, expression, depth = queue.popleft()
        if (inside, expression) in seen or depth > _FURTHEST:
            continue
        seen.add((inside, expression))
        if depth and why(program, inside, expression).level == "uniform":
            # What it was made of may differ: the ranks agreed on it since.
            continue
        for where, node, test in _choices(objects, inside, expression):
            found = _differing(program, where, node, test, alike)
            if found is not None:
                return structs.replace(found, **_filling(objects, inside, expression, node) if test else {})
        for target, made in _from(objects, inside, expression):
            if target not in entered and made is None:
                entered.add(target)
                for node, test in _in_body(target):
                    found = _differing(program, target, node, test, alike)
                    if found is not None:
                        return found
                swallowed = swallowed or _swallowed(program, target)
                queue.extend((target, each, depth + 1) for each in results(target))
            elif made is not None:
                queue.append((target, made, depth + 1))
    # Only where nothing else makes the shares unequal: many a reader guards against what never happens.
    return swallowed


def answers(program: Program, function: Function) -> list[Entry]:
    """The expressions that the function returns, and the tests upon which it does, but for those that are the same on
    all ranks."""
    tests = [node for node, _ in _in_body(function)]
    found = [(node, why(program, function, node)) for node in (*tests, *results(function))]
    return [
        Entry(function, node.lineno, node, reason, True)
        for node, reason in found
        if reason.level != "uniform"
    ]


def _differing(
    program: Program, function: Function, node: ast.expr, test: bool, alike: Alike
) -> Entry | None:
    asked = tested(function.module.lines, node.lineno, node) if test else node
    reason = why(program, function, asked)
    differs = reason.level == "varying" and not (test and alike is not None and alike(function, node))
    return Entry(function, node.lineno, node, reason, test) if differs else None


def _choices(
    objects: Objects, function: Function, value: ast.expr
) -> Iterator[tuple[Function, ast.expr, bool]]:
    """Parts of the expression that choose, and the tests under which the variable, or the attribute, that it is was
    given or filled."""
    for node in ast.walk(value):
        yield from ((function, *choosing) for choosing in _choosing(node))
    guards = _guards(function, value, ("assign", "augment", "mutate", "reorder", "definition"))
    yield from ((function, test, True) for test in guards)
    for where, stored in _stored(objects, function, value):
        if stored.site is not None:
            yield from ((where, test, True) for test in _tests_around(where, stored.site))


def _stored(objects: Objects, function: Function, value: ast.expr) -> Iterator[tuple[Function, Definition]]:
    """What is put into the attribute that the value is, of whatever class its object may be."""
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        for cls in objects.classes(value.value, Frame(function)):
            yield from objects.stores(cls, value.attr)


def _filling(objects: Objects, function: Function, value: ast.expr, test: ast.expr) -> dict[str, bool]:
    """Whether it is the test upon which the variable, or the attribute, that the value is gets an item."""
    own = dotted(value)
    given = [(function, d) for d in reaching(function).everywhere(own)] if own is not None else []
    for where, d in (*given, *_stored(objects, function, value)):
        if d.how == "mutate" and d.site is not None and test in _tests_around(where, d.site):
            return {"fills": True, "keyed": d.key is not None}
    return {}


def _guards(function: Function, value: ast.expr, how: tuple[str, ...]) -> Iterator[ast.expr]:
    """The tests under which the variable that the value is gets its content."""
    name = dotted(value)
    for definition in reaching(function).everywhere(name) if name is not None else ():
        if definition.site is not None and definition.how in how:
            yield from _tests_around(function, definition.site)


def _choosing(node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        yield node, False
    elif isinstance(node, ast.IfExp):
        yield node.test, True
    elif isinstance(node, COMPREHENSIONS):
        yield from ((test, True) for part in node.generators for test in part.ifs)
    elif isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
        name = (dotted(node.func) or "").rpartition(".")[2]
        if name in ("islice", "range", "array_split", "split", "chunk", "tensor_split", "shard", "Subset"):
            yield node, False


def _tests_around(function: Function, site: ast.AST) -> Iterator[ast.expr]:
    for outer in ancestors(function.module, site):
        if outer is function.node:
            return
        if isinstance(outer, ast.If) and not asks_if_there(outer.test, site):
            yield outer.test


def _one_either_way(node: ast.If) -> bool:
    """Each arm hands on one item, and goes on: which one it takes does not change how many there are."""
    for arm in (node.body, node.orelse):
        if len(arm) == 1 and isinstance(arm[0], ast.If):
            if not _one_either_way(arm[0]):
                return False
            continue
        every = (n for statement in arm for n in ast.walk(statement))
        steps = [n for n in every if isinstance(n, (*_STEPS, ast.For, ast.While))]
        if len(steps) != 1 or not isinstance(steps[0], ast.Yield):
            return False
    return True


def _swallowed(program: Program, function: Function) -> Entry | None:
    """A handler in a generator that hands on nothing for what raised, and does not raise itself."""
    nodes = list(own_nodes(function))
    if not any(isinstance(node, _YIELDS) for node in nodes):
        return None
    for handler in (node for node in nodes if isinstance(node, ast.ExceptHandler)):
        steps = [n for statement in handler.body for n in ast.walk(statement)]
        if handler.type is None or any(isinstance(n, (*_YIELDS, ast.Raise)) for n in steps):
            continue
        text = function.module.line_at(handler.lineno)
        reason = why(
            program, function, Condition(handler.lineno, text, "except", "raised", "not raised", handler)
        )
        if reason.level == "varying":
            return Entry(function, handler.lineno, handler.type, reason, False, caught=True)
    return None


def _in_body(function: Function) -> Iterator[tuple[ast.expr, bool]]:
    """What a function chooses by itself: tests that leave, skip or return, and parts that it takes."""
    # What is handed on one by one has no part in how often.
    items = [n for node in own_nodes(function) if isinstance(node, ast.Yield) for n in ast.walk(node)]
    items += [n for statement in for_nothing(function) for n in ast.walk(statement)]
    for node in own_nodes(function):
        if node in items:
            continue
        if isinstance(node, ast.If) and not _one_either_way(node):
            inner = [n for part in (*node.body, *node.orelse) for n in ast.walk(part)]
            if any(isinstance(n, _STEPS) for n in inner):
                yield node.test, True
        else:
            yield from _choosing(node)


def results(function: Function) -> Iterator[ast.expr]:
    """What it returns, and the loops in which it yields: what it yields has no part in how often."""
    if isinstance(function.node, ast.Lambda):
        yield function.node.body
        return
    for node in own_nodes(function):
        if isinstance(node, (ast.Return, ast.YieldFrom)) and node.value is not None:
            yield node.value
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            inside = (n for part in node.body for n in ast.walk(part))
            yield from [node.iter] if any(isinstance(n, _YIELDS) for n in inside) else []


def _from(
    objects: Objects, function: Function, value: ast.expr
) -> Iterator[tuple[Function, ast.expr | None]]:
    """Where the value comes from: expressions of functions, and functions that are called for it (with None)."""
    frame = Frame(function)
    if isinstance(value, ast.Call):
        yield from ((called_, None) for called_ in _called(objects, function, value))
        yield from ((function, argument) for argument in value.args)
        yield from ((function, keyword.value) for keyword in value.keywords)
        if isinstance(value.func, ast.Attribute):
            yield function, value.func.value
    elif isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        stored = _stored(objects, function, value)
        yield from ((where, d.value) for where, d in stored if d.value is not None)
        for cls in objects.classes(value.value, frame):
            found = method(cls, value.attr)
            if found is not None:
                yield found, None
    elif isinstance(value, ast.Name):
        for definition in reaching(function).everywhere(value.id):
            if definition.how == "parameter":
                yield from handed_over(objects, function, value.id)
            elif definition.value is not None:
                yield function, definition.value
        yield from ((each, None) for cls in objects.classes(value, frame) for each in _iterators(cls))
    else:
        yield from ((function, part) for part in ast.iter_child_nodes(value) if isinstance(part, ast.expr))


def called_in(program: Program, function: Function, value: ast.expr) -> list[Function]:
    """The functions of the program that are called for a value, where it is a call."""
    return list(_called(objects_of(program), function, value)) if isinstance(value, ast.Call) else []


def _called(objects: Objects, function: Function, call: ast.Call) -> Iterator[Function]:
    target = resolve(function, call.func)
    if isinstance(target, Function):
        yield target
    elif isinstance(target, Class):
        yield from _iterators(target)
    elif isinstance(call.func, ast.Attribute):
        for cls in objects.classes(call.func.value, Frame(function)):
            found = method(cls, call.func.attr)
            if found is not None:
                yield found


def _iterators(cls: Class) -> Iterator[Function]:
    found = (method(cls, name) for name in ("__iter__", "__len__", "__getitem__", "__next__"))
    yield from (each for each in found if each is not None)


def handed_over(objects: Objects, function: Function, name: str) -> Iterator[tuple[Function, ast.expr]]:
    """What is given for a parameter, wherever the function is called."""
    for site, bound in objects.callers(function):
        given = (called(function, site.call, Frame(site.function), bound).given or {}).get(name)
        if given is not None:
            yield site.function, given.value
