"""What a test decides for its rank alone: no vote on it makes alike what each rank has of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.source.dependence import why
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class, method, resolve

from .place_to_mend import PlaceToMend, leaves, trains
from .reach import called, collective
from .words import quoted

Test = ast.If | ast.While | ast.IfExp


def own_work(place: PlaceToMend, node: Test) -> bool:
    """It works on what this rank has, makes no call that involves others, and goes on like the other way. Not so where
    it puts up a flag: what is done by that is done later, and by all."""
    if not isinstance(node, ast.If) or leaves(node.body):
        return False
    inside: list[ast.stmt] = [*node.body, *node.orelse]
    if _calls_others(place, inside) or any(_puts_up_flag(statement) for statement in inside):
        return False
    tested = {ast.unparse(e) for e in ast.walk(node.test) if isinstance(e, (ast.Name, ast.Attribute))}
    return any(ast.unparse(e) in tested for value in _worked_on(inside) for e in ast.walk(value))


def calls_what_is_looked_up(place: PlaceToMend, node: ast.If) -> bool:
    """What it calls is taken from a table, given back by a call, or an object that is held here, as a layer is by its
    model: the code that runs then is not known here."""
    inside = (part for statement in (*node.body, *node.orelse) for part in ast.walk(statement))
    return any(isinstance(part, ast.Call) and _is_looked_up(place.in_program, part.func) for part in inside)


def _is_looked_up(function: Function, called: ast.expr) -> bool:
    match called:
        case ast.Subscript() | ast.Call():
            return True
        case ast.Name():
            return resolve(function, called) is None
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            owner = function.owner
            return owner is None or method(Class(function.module, owner), name) is None
    return False


def _calls_others(place: PlaceToMend, inside: list[ast.stmt]) -> bool:
    unknown = any(_is_handed_in(place, part) for s in inside for part in ast.walk(s))
    sites = unknown or any(place.leads_to(statement, place.problem.sites) for statement in inside)
    return sites or bool(place.events(inside))


def _is_handed_in(place: PlaceToMend, part: ast.AST) -> bool:
    """A call of what a function around was given: it may do anything."""
    if not isinstance(part, ast.Call) or not isinstance(part.func, ast.Name):
        return False
    around = (
        o for o in place.module.enclosing(part) if isinstance(o, (ast.FunctionDef, ast.AsyncFunctionDef))
    )
    return any(
        part.func.id == arg.arg for o in around for arg in ast.walk(o.args) if isinstance(arg, ast.arg)
    )


def _puts_up_flag(statement: ast.stmt) -> bool:
    return any(
        isinstance(part, ast.Assign)
        and isinstance(part.value, ast.Constant)
        and any(isinstance(target, ast.Attribute) for target in part.targets)
        for part in ast.walk(statement)
    )


def _worked_on(inside: list[ast.stmt]) -> Iterator[ast.expr]:
    """What is handed to something, or made into something that is kept."""
    for statement in inside:
        if isinstance(statement, ast.Expr):
            yield from (a for call in ast.walk(statement) if isinstance(call, ast.Call) for a in call.args)
        elif isinstance(statement, (ast.Assign, ast.AugAssign)):
            yield statement.value


def keeps_for_itself(place: PlaceToMend, node: Test) -> str:
    """Why a vote on the test would make nothing alike; empty if nothing speaks against it."""
    if not isinstance(node, ast.If):
        return ""
    said, inside = quoted(place.module, node.test), [*node.body, *node.orelse]
    if _is_of_generator(place, node):
        return (
            f"what {said} decides is which items a generator hands on, and each rank has its own: with a vote, "
            "it would hand on what it was to leave out, or leave out the others'. Agree on the number of rounds in the "
            "loop that takes them."
        )
    if leaves(node.body) in ("continue", "return") and _accumulates(place):
        return (
            f"batches are accumulated here (`no_sync`), and in most rounds nobody waits: a vote on {said} would leave "
            "out there what the others have. Agree in the round alone in which gradients are exchanged, or run that on "
            "zeros."
        )
    table = _own_table(node)
    if table is not None and not _calls_others(place, inside):
        return (
            f"{quoted(place.module, table)} holds what each rank has met, under keys of its own: with a vote on {said} "
            "the ranks would still have other keys, and begin anew what they hold. Give every rank the same keys, or "
            "agree where they are gone through."
        )
    return ""


def _is_of_generator(place: PlaceToMend, node: ast.If) -> bool:
    """It stands before a `yield`, or holds one, and in the way there is no call that involves others."""
    ways: list[ast.AST] = [*node.body, *node.orelse]
    if leaves(node.body) == "continue":
        ways += place.rest()
    hands_on = any(isinstance(part, (ast.Yield, ast.YieldFrom)) for way in ways for part in ast.walk(way))
    return hands_on and not any(collective(event) for event in place.events(ways))


def _accumulates(place: PlaceToMend) -> bool:
    """What follows trains, and is run under `no_sync` in some rounds."""
    around = [
        item.context_expr
        for outer in place.module.enclosing(place.statement())
        if isinstance(outer, (ast.With, ast.AsyncWith))
        for item in outer.items
    ]
    return trains(place.events(place.rest())) and without_sync(place, [*around, *place.rest()])


def without_sync(place: PlaceToMend, run: list[ast.AST]) -> bool:
    """The code, or what it calls, keeps gradients on the rank for a while."""
    inside = [*run, *(d.node for node in run for d in called(place.code, place.module, node))]
    parts = (part for node in inside for part in ast.walk(node))
    return any(isinstance(part, ast.Attribute) and part.attr == "no_sync" for part in parts)


def own_sync(place: PlaceToMend, run: list[ast.AST]) -> ast.expr | None:
    """The test upon which gradients are kept on the rank, where it may come out otherwise on another one."""
    if not without_sync(place, run):
        return None
    found = [(place.in_program, node) for node in run]
    for node in run:
        for definition in called(place.code, place.module, node):
            module = place.code.program.module(definition.module.path)
            function = module.by_node.get(definition.node) if module is not None else None
            found += [(function, definition.node)] if function is not None else []
    for function, inside in found:
        tests = (part for part in ast.walk(inside) if isinstance(part, (ast.If, ast.IfExp)))
        for part in tests:
            alike = why(place.code.program, function, part.test).level == "uniform"
            if not alike and without_sync(place, [part]):
                return part.test
    return None


def _own_table(node: ast.If) -> ast.expr | None:
    """The `table` of `if key not in table: table[key] = ...`."""
    test = node.test
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.NotIn)):
        return None
    entry = ast.unparse(ast.Subscript(test.comparators[0], test.left, ast.Load()))
    stored = (
        part
        for statement in node.body
        for part in ast.walk(statement)
        if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store)
    )
    return test.comparators[0] if any(ast.unparse(part) == entry for part in stored) else None
