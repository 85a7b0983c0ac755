"""What a call makes: an object of a class, what a function of the program returns, or one of what a container holds."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rankandfile.source.dependence.callers import is_of_class, own_class
from rankandfile.source.dependence.frame import Frame, Instance, called
from rankandfile.source.dependence.syntax import EACH, ENTER, Path
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class, External, method, resolve
from rankandfile.source.program.scopes import returned_values, yielded_values
from rankandfile.source.registry.tables import TABLE, canonical

from .annotations import annotated_as
from .registered import looked_up
from .tables import OF_PAIRS, of_pairs, taken

if TYPE_CHECKING:
    from .of_expressions import Objects

_HOLD_THE_SAME = {
    "torch.nn.ModuleList",
    "builtins.list",
    "builtins.tuple",
    "builtins.reversed",
    "builtins.sorted",
    "builtins.iter",
}
_SAME = {
    "to",
    "cuda",
    "cpu",
    "train",
    "eval",
    "half",
    "float",
    "bfloat16",
    "requires_grad_",
    "__enter__",
    "share_memory",
}


def made(objects: Objects, e: ast.Call, frame: Frame, depth: int, path: Path) -> Iterator[Instance]:
    """What the call gives or, with a path, what lies on it inside of that."""
    target = resolve(frame.function, e.func) or own_class(e.func, frame.function)
    if isinstance(target, Class):
        if not path:
            yield Instance(target, e, frame)
    elif isinstance(target, External):
        name = canonical(target.dotted)
        if name in TABLE.wraps:
            if TABLE.wraps[name]:
                yield Instance(TABLE.wraps[name], e, frame)
            for value in e.args[:1]:
                yield from objects.of(value, frame, depth + 1, path)
        elif name in _HOLD_THE_SAME and e.args and path:
            yield from objects.of(e.args[0], frame, depth + 1, path)
        elif name in OF_PAIRS and path:
            yield from of_pairs(objects, e, frame, depth, path)
        elif name == "torch.nn.Sequential" and path:
            yield from elements(objects, e.args, frame, depth, path)
        elif name == "builtins.next" and e.args:
            yield from objects.of(e.args[0], frame, depth + 1, (EACH, *path))
        elif name == "builtins.enumerate" and e.args and len(path) > 1:
            yield from objects.of(
                e.args[0], frame, depth + 1, (EACH, *path[2:]) if path[1] == ("item", 1) else ()
            )
        elif not path or name in TABLE.makes:
            yield Instance(TABLE.makes.get(name, name), e, frame)
    elif isinstance(target, Function):
        bound = is_of_class(target)
        yield from _returned(objects, target, e, frame, depth, path, bound=bound)
    elif isinstance(e.func, (ast.Subscript, ast.Name)):
        if not path:
            found_there = looked_up(frame.function, e.func)
            yield from (Instance(each, e, frame) for each in found_there if isinstance(each, Class))
    elif isinstance(e.func, ast.Attribute):
        yield from taken(objects, e, frame, depth, path)
        if e.func.attr in _SAME:
            yield from objects.of(e.func.value, frame, depth + 1, path)
        for instance in objects.of(e.func.value, frame, depth + 1):
            if isinstance(instance.type, Class):
                found = method(instance.type, e.func.attr)
                if found is not None:
                    yield from _returned(objects, found, e, frame, depth, path, bound=True)
            else:
                name = canonical(f"{instance.type}.{e.func.attr}")
                yield Instance(TABLE.makes.get(name, name), e, frame)


def elements(
    objects: Objects, items: list[ast.expr], frame: Frame, depth: int, path: Path
) -> Iterator[Instance]:
    """What these hold of which the path's next step takes one, or any."""
    kind, key = path[0]
    if kind == "item" and isinstance(key, int) and -len(items) <= key < len(items):
        items = [items[key]]
    for element in items:
        if isinstance(element, ast.Starred):
            yield from objects.of(element.value, frame, depth + 1, (EACH, *path[1:]))
        else:
            yield from objects.of(element, frame, depth + 1, path[1:])


def _returned(
    objects: Objects, target: Function, call: ast.Call, frame: Frame, depth: int, path: Path, *, bound: bool
) -> Iterator[Instance]:
    inside = called(target, call, frame, bound)
    if inside.too_deep:
        return
    found = False
    for value in returned_values(target):
        for each in objects.of(value, inside, depth + 1, path):
            found = True
            yield each
    for value in yielded_values(target) if path[:1] in ((EACH,), (ENTER,)) else ():
        for each in objects.of(value, inside, depth + 1, path[1:]):
            found = True
            yield each
    if not found and not isinstance(target.node, (ast.Module, ast.Lambda)):
        yield from annotated_as(target.node.returns, target, frame, path)
