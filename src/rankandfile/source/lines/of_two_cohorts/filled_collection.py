"""What is in a collection that a test asks about, or a loop goes over: what functions put there, or a model has."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.source.dependence.syntax import PARTS, PUTS_IN, container_of, dotted
from rankandfile.source.lines.made_from import called_in
from rankandfile.source.program.modules import Function
from rankandfile.source.program.places import SourcePlace


def attributes(asked: ast.AST) -> set[str]:
    """Attributes of the object itself: `self.totals`."""
    return {
        node.attr
        for node in ast.walk(asked)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    }


def filling_methods(place: SourcePlace, attribute: str) -> Iterator[str]:
    """Methods of the same class that put something into the attribute."""
    for function in place.module.functions:
        if function.owner is None or function.owner is not place.function.owner or function is place.function:
            continue
        for node in function.nodes:
            target = added_to(node)
            if isinstance(target, ast.Attribute) and target.attr == attribute:
                yield function.name
                break


def added_to(node: ast.AST) -> ast.expr | None:
    """What the statement or call puts something into."""
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        return target.value if isinstance(target, ast.Subscript) else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in PUTS_IN:
        return node.func.value
    return None


_DICTIONARIES = {"dict", "defaultdict", "OrderedDict", "Counter"}


def kept_under_keys(place: SourcePlace, items: ast.expr) -> bool:
    """Whether the items are those of the object's own dictionary, which methods of its class fill."""
    held = container_of(_handed_out(place, items))
    if not isinstance(held, ast.Attribute) or attributes(held) != {held.attr}:
        return False
    return _is_a_dictionary(place, held.attr) and any(filling_methods(place, held.attr))


def _handed_out(place: SourcePlace, items: ast.expr) -> ast.expr:
    """What the object itself gives them by, where it is asked: `for name in self.names()`, `for row in self`."""
    name = _asked_of_itself(items)
    own = (f for f in place.module.functions if f.owner is place.function.owner and f.name == name)
    giver = next(own, None) if name and place.function.owner is not None else None
    given = [
        node.value
        for node in (giver.nodes if giver is not None else ())
        if isinstance(node, (ast.Return, ast.YieldFrom)) and node.value is not None
    ]
    return given[0] if len(given) == 1 else items


def _asked_of_itself(items: ast.expr) -> str:
    """The method by which an object is asked for its items; empty where it is another that is asked."""
    if isinstance(items, ast.Name):
        return "__iter__" if items.id == "self" else ""
    asked = (dotted(items.func) if isinstance(items, ast.Call) and not items.args else None) or ""
    return asked.removeprefix("self.") if asked.startswith("self.") else ""


def _is_a_dictionary(place: SourcePlace, attribute: str) -> bool:
    """By what its class sets it to."""
    own = (f for f in place.module.functions if f.owner is place.function.owner)
    set_to = [
        node.value
        for function in own
        for node in function.nodes
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Attribute) and target.attr == attribute
    ]
    return any(
        isinstance(value, ast.Dict)
        or (isinstance(value, ast.Call) and (dotted(value.func) or "").rpartition(".")[2] in _DICTIONARIES)
        for value in set_to
    )


def parts_of_a_model(function: Function, items: ast.AST) -> bool:
    """Its parameters or layers, or those of them that a function of the program picks out: each is somebody's own."""
    if not isinstance(items, ast.Call):
        return False
    pickers = called_in(function.module.program, function, items)
    gone_over = [node.iter for picker in pickers for node in picker.nodes if isinstance(node, ast.For)]
    calls = [each for each in (items, *gone_over) if isinstance(each, ast.Call)]
    return any(isinstance(call.func, ast.Attribute) and call.func.attr in PARTS for call in calls)
