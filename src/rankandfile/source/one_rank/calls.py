"""What a call returns on one rank."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from rankandfile.source.dependence.callers import is_static
from rankandfile.source.dependence.frame import Frame
from rankandfile.source.dependence.syntax import argument
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class, External, enclosing_class, lineage, method, resolve
from rankandfile.source.registry.tables import canonical

from . import library
from .arithmetic import MOST_ITEMS, Plain, Values, alone, each, union
from .mesh import dimension, line

if TYPE_CHECKING:
    from .values import OneRank

_CHANGES: dict[str, Callable[[Plain], Plain]] = {
    "int": int,  # type: ignore[dict-item]
    "bool": bool,
    "float": float,  # type: ignore[dict-item]
    "str": str,
    "abs": abs,  # type: ignore[dict-item]
    "len": len,  # type: ignore[dict-item]
    "tuple": tuple,  # type: ignore[dict-item]
    "list": tuple,  # type: ignore[dict-item]
}
_OF_ITEMS: dict[str, Callable[..., Plain]] = {
    "sorted": lambda items: tuple(sorted(items)),
    "reversed": lambda items: tuple(reversed(items)),
    "enumerate": lambda items, first=0: tuple(enumerate(items, first)),
    "zip": lambda *items: tuple(zip(*items, strict=False)),
    "set": lambda items: tuple(dict.fromkeys(items)),
}
_GROUPLESS = {"group"}


def call(one: OneRank, e: ast.Call, frame: Frame) -> Values:
    target = frame.function.module.by_node.get(e.func) or resolve(frame.function, e.func)
    if isinstance(target, External):
        return _external(one, canonical(target.dotted), e, frame)
    if isinstance(target, Function):
        return one.returned(target, e, frame, bound=target.owner is not None and not is_static(target))
    if isinstance(target, Class) or not isinstance(e.func, ast.Attribute):
        return None
    if isinstance(e.func.value, ast.Call) and getattr(e.func.value.func, "id", "") == "super":
        owner = enclosing_class(frame.function)
        above = (method(cls, e.func.attr) for cls in (lineage(owner)[1:] if owner is not None else []))
        found = next((m for m in above if m is not None), None)
        return one.returned(found, e, frame, bound=True) if found is not None else None
    return _method(one, e, e.func, frame)


def _method(one: OneRank, e: ast.Call, func: ast.Attribute, frame: Frame) -> Values:
    if func.attr in ("get_local_rank", "get_coordinate", "size", "get_group"):
        found = _in_mesh(one, e, func, frame)
        if found is not None:
            return found
    results: list[Values] = []
    for instance in one.objects.of(func.value, frame):
        if not isinstance(instance.type, Class):
            results.append(library.asked(canonical(f"{instance.type}.{func.attr}"), one.rank, one.job))
            continue
        target = method(instance.type, func.attr)
        results.append(
            None if target is None else one.returned(target, e, frame, bound=not is_static(target))
        )
    return union(results) if results else None


def _in_mesh(one: OneRank, e: ast.Call, func: ast.Attribute, frame: Frame) -> Values:
    named = argument(e, 0, "mesh_dim")
    found = dimension(one, func.value, named, frame) if func.attr != "get_group" else None
    if found is None:
        members = line(one, func.value, named, frame)
        return None if members is None else library.on_line(func.attr, members, one.rank)
    place, which = found
    if func.attr == "get_coordinate":
        return frozenset({place}) if which < 0 else None
    if func.attr == "get_local_rank":
        return frozenset({place[which]}) if which >= 0 or len(place) == 1 else None
    return _size(one, func.value, which, frame)


def _size(one: OneRank, mesh: ast.expr, which: int, frame: Frame) -> Values:
    whole = ast.copy_location(ast.Attribute(mesh, "shape", ast.Load()), mesh)
    shape = None if isinstance(mesh, ast.Subscript) else one.value(whole, frame)
    return library.size(one.job) if which < 0 else one.part(shape, frozenset({which}))


def _external(one: OneRank, name: str, e: ast.Call, frame: Frame) -> Values:
    if name in library.READY:
        return frozenset({True}) if one.running else frozenset({True, False})
    if name in ("os.environ.get", "os.getenv") and e.args:
        return _variable(one, e, frame)
    if name.startswith("builtins."):
        return _builtin(one, name.removeprefix("builtins."), e, frame)
    if name in library.OF_GROUP:
        at, of = (e.args[0] if e.args else argument(e, 0, "group")), argument(e, 1, *library.OF_GROUP[name])
        given = None if of is None else one.value(of, frame)
        members = None if at is None else one.value(at, frame)
        return library.in_group(name, members, given)
    group = argument(e, 0, *_GROUPLESS)
    if group is not None and not (isinstance(group, ast.Constant) and group.value is None):
        return None
    return library.asked(name, one.rank, one.job)


def _variable(one: OneRank, e: ast.Call, frame: Frame) -> Values:
    value = one.variable(e.args[0], frame)
    if value is None or not (one.index.calls("spawn") or one.index.calls("Process")):
        return value
    # Processes that the program starts itself have only what it puts into their environment.
    default = argument(e, 1, "default")
    return union([value, frozenset({None}) if default is None else one.value(default, frame)])


def _builtin(one: OneRank, name: str, e: ast.Call, frame: Frame) -> Values:
    args = [one.value(a, frame) for a in e.args]
    if e.keywords or not args or any(isinstance(a, ast.Starred) for a in e.args):
        return None
    if name in _CHANGES and len(args) == 1:
        return each(args[0], _CHANGES[name])
    given = alone(args)
    if given is None:
        return None
    if name in ("min", "max") and len(given) > 1:
        return each(frozenset({given}), min if name == "min" else max)  # type: ignore[arg-type]
    if name == "range":
        return each(frozenset({given}), _range)
    if name in _OF_ITEMS:
        return each(frozenset({given}), lambda v: _OF_ITEMS[name](*v))  # type: ignore[misc]
    return None


def _range(numbers: Plain) -> Plain:
    every = range(*numbers)  # type: ignore[misc]
    if len(every) > MOST_ITEMS:
        raise ValueError("more than is looked at")
    return tuple(every)
