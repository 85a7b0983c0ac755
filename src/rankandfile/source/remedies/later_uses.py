"""Other places where the same answer decides: after a patch of one, they must come out alike too."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

from rankandfile.source.dependence import why
from rankandfile.source.dependence.reaching_assignments import reaching
from rankandfile.source.dependence.syntax import ancestors, dotted
from rankandfile.source.program.called import called_name
from rankandfile.source.program.scopes import own_nodes

from .code import Module
from .place_to_mend import Deciding, PlaceToMend, leaves, trains
from .rank_tests import is_rank_test
from .reach import collective, events


class Flag(Struct, frozen=True):
    """A name or an attribute that a test asks for, and nothing else."""

    node: ast.expr
    turned: bool
    """The test is `not flag`."""


class Uses(Struct, frozen=True):
    made: ast.expr | None
    """The one expression that gives a local name its value, where every use sees it."""
    here: tuple[ast.expr, ...]
    """In other tests of the same function."""
    elsewhere: tuple[str, int] | None
    """Another function in which it decides over calls that involve others, by file and line."""


def flag_of(test: ast.expr) -> Flag | None:
    turned = False
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, turned = test.operand, not turned
    return Flag(test, turned) if dotted(test) is not None else None


def uses_of(place: PlaceToMend, flag: Flag) -> Uses:
    here = tuple(e for e in _tested(place) if ast.unparse(e) == ast.unparse(flag.node) and e is not flag.node)
    made = _made(place, flag) if isinstance(flag.node, ast.Name) else None
    return Uses(made, here, _elsewhere(place, flag) if isinstance(flag.node, ast.Attribute) else None)


def _tested(place: PlaceToMend) -> Iterator[ast.expr]:
    """Names and attributes in the tests of the function, each as far out as it goes."""
    for node in own_nodes(place.in_program):
        if isinstance(node, (ast.If, ast.While, ast.IfExp)):
            yield from _read(node.test)


def _read(test: ast.AST) -> Iterator[ast.expr]:
    if isinstance(test, (ast.Name, ast.Attribute)):
        yield test
    else:
        for child in ast.iter_child_nodes(test):
            yield from _read(child)


def _made(place: PlaceToMend, flag: Flag) -> ast.expr | None:
    """Its only assignment, where that stands before the test in the same block, or in one around it."""
    assert isinstance(flag.node, ast.Name)
    found = reaching(place.in_program).everywhere(flag.node.id)
    site = found[0].site if len(found) == 1 else None
    if (
        not isinstance(site, ast.Assign)
        or len(site.targets) != 1
        or not isinstance(site.targets[0], ast.Name)
    ):
        return None
    block, _ = place.siblings(site)
    around = {id(place.statement()), *(id(n) for n in ancestors(place.in_program.module, place.statement()))}
    return site.value if any(id(s) in around for s in block) and site.lineno < flag.node.lineno else None


def _elsewhere(place: PlaceToMend, flag: Flag) -> tuple[str, int] | None:
    assert isinstance(flag.node, ast.Attribute)
    for module in place.code.around(place.module):
        for node in module.nodes:
            if not isinstance(node, (ast.If, ast.While)) or module.function_of(node) == place.function:
                continue
            asked = any(isinstance(e, ast.Attribute) and e.attr == flag.node.attr for e in _read(node.test))
            if asked and _decides(place, module, node):
                return module.path, node.lineno
    return None


def _decides(place: PlaceToMend, module: Module, node: ast.If | ast.While) -> bool:
    """Its way leads by calls that involve others, by a step of training, or out of a loop or function."""
    if isinstance(node, ast.While) or leaves(node.body) in ("break", "return", "exit"):
        return True
    found = events(place.code, module, [*node.body, *node.orelse])
    return trains(found) or any(collective(event) for event in found)


def other_test_of_part(place: PlaceToMend, test: ast.expr) -> tuple[str, int] | None:
    """A name or an attribute in the test that differs, and the line of another test in the function that asks for it
    too."""
    parts: dict[str, ast.expr] = {ast.unparse(e): e for e in _read(test)}
    inside = {id(node) for node in ast.walk(test)}
    for e in _tested(place):
        shown = ast.unparse(e)
        if shown not in parts or id(e) in inside:
            continue
        owner = next(n for n in place.module.enclosing(e) if isinstance(n, (ast.If, ast.While, ast.IfExp)))
        decides = any(collective(event) for event in place.events([owner]))
        out = isinstance(owner, ast.If) and leaves(owner.body) in ("break", "return", "exit")
        if (decides or out) and why(place.code.program, place.in_program, parts[shown]).level == "varying":
            return shown, e.lineno
    return None


def makes_groups(statement: ast.AST) -> list[ast.Call]:
    """The calls in it that make a group."""
    calls = (part for part in ast.walk(statement) if isinstance(part, ast.Call))
    return [c for c in calls if called_name(c) == "new_group"]


def group_upon_answer(place: PlaceToMend, node: Deciding) -> bool:
    """A branch that makes a group, and whose group being there decides something further on. Made by all, some would
    still go without it: what they need is one answer. Whoever compares itself with the members has its own."""
    if not isinstance(node, ast.If) or any(isinstance(part, ast.Compare) for part in ast.walk(node.test)):
        return False
    if is_rank_test(place.code, place.module, node.test) or place.answers.differs(
        node.test, place.in_program
    ):
        return False
    made = [s for s in node.body if isinstance(s, ast.Assign) and makes_groups(s.value)]
    kept = {ast.unparse(target) for statement in made for target in statement.targets}
    own = place.function.node if place.function is not None else place.module.tree
    within: ast.AST = next((o for o in place.module.enclosing(node) if isinstance(o, ast.ClassDef)), own)
    tests = (part.test for part in ast.walk(within) if isinstance(part, (ast.If, ast.IfExp)))
    asked = (part for test in tests if test is not node.test for part in ast.walk(test))
    return bool(kept) and any(isinstance(part, ast.expr) and ast.unparse(part) in kept for part in asked)
