"""What dictionaries hold: objects under keys."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rankandfile.source.dependence.frame import Frame, Instance
from rankandfile.source.dependence.syntax import EACH, Path
from rankandfile.source.program.names import Class, method
from rankandfile.source.program.scopes import own_nodes

if TYPE_CHECKING:
    from .of_expressions import Objects

_ANY: tuple[str, object] = ("item", None)
_ONE = {"get", "pop", "setdefault"}
OF_PAIRS = {"builtins.dict", "collections.OrderedDict"}
"""Types of dictionaries that are made of pairs of a key and what stands under it."""


def held(
    objects: Objects, e: ast.Dict | ast.DictComp, frame: Frame, depth: int, path: Path
) -> Iterator[Instance]:
    """What a dictionary that is written out holds under any key."""
    for value in e.values if isinstance(e, ast.Dict) else [e.value]:
        yield from objects.of(value, frame, depth + 1, path[1:])


def of_pairs(objects: Objects, e: ast.Call, frame: Frame, depth: int, path: Path) -> Iterator[Instance]:
    """`dict((key, value) for key in keys)`, `OrderedDict([(key, value)])`, `dict(name=value)`."""
    for given in e.args[:1]:
        made = (
            [given.elt] if isinstance(given, (ast.GeneratorExp, ast.ListComp)) else getattr(given, "elts", [])
        )
        for pair in made:
            if isinstance(pair, ast.Tuple) and len(pair.elts) == 2:
                yield from objects.of(pair.elts[1], frame, depth + 1, path[1:])
        if not made:
            yield from objects.of(given, frame, depth + 1, path)
    for named in e.keywords:
        yield from objects.of(named.value, frame, depth + 1, path[1:])


def taken(objects: Objects, e: ast.Call, frame: Frame, depth: int, path: Path) -> Iterator[Instance]:
    """`table.values()`, `table.items()`, `table.get(key)`."""
    assert isinstance(e.func, ast.Attribute)
    if e.func.attr == "values" and path:
        yield from objects.of(e.func.value, frame, depth + 1, (_ANY, *path[1:]))
    elif e.func.attr == "items" and len(path) > 1 and path[1] == ("item", 1):
        yield from objects.of(e.func.value, frame, depth + 1, (_ANY, *path[2:]))
    elif e.func.attr in _ONE and e.args:
        yield from objects.of(e.func.value, frame, depth + 1, (_ANY, *path))
        for other in e.args[1:2]:
            yield from objects.of(other, frame, depth + 1, path)


def iterated(objects: Objects, cls: Class, frame: Frame, depth: int, path: Path) -> Iterator[Instance]:
    """What a loop over an object of the class goes through."""
    made = method(cls, "__iter__") if path[0] == EACH else None
    inside = Frame(made, None, frame.depth + 1) if made is not None else None
    for node in own_nodes(made) if made is not None else ():
        if inside is None or inside.too_deep or not isinstance(node, (ast.Yield, ast.YieldFrom, ast.Return)):
            continue
        if node.value is not None:
            rest = path[1:] if isinstance(node, ast.Yield) else path
            yield from objects.of(node.value, inside, depth + 1, rest)
