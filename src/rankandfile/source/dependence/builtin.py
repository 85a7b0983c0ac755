"""What the functions of Python itself make of their arguments."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import resolve
from rankandfile.source.registry.tables import is_pure

from . import control, origins
from .frame import Argument, Frame
from .returned import body, by_arguments
from .syntax import EACH, KIND, LEN, Path, argument, arguments, constant, text
from .value import UNIFORM, UNKNOWN, Value, join

if TYPE_CHECKING:
    from .evaluate import Evaluator


_LOOKS_UP = {"get", "__getitem__"}
"""Methods of a table that give what is stored under an item."""
_SAME_ITEMS = {"list", "tuple", "sorted", "reversed", "iter", "set", "frozenset"}


def builtin(ev: Evaluator, name: str, e: ast.Call, frame: Frame, path: Path) -> Value:
    """The value of what a function of Python's own returns, on all ranks together."""
    args = arguments(e)
    first = args[0] if args else None
    if first is None:
        return UNIFORM
    if name in _SAME_ITEMS:
        return _same_items(ev, name, first, e, frame, path)
    if name == "len":
        return ev.value(first, frame, (LEN,))
    if name == "next":
        return join([ev.value(first, frame, (EACH, *path)), ev.all(args[1:], frame)])
    if name in ("enumerate", "zip", "map", "filter"):
        return _combined(ev, name, args, frame, path)
    if name == "range":
        return ev.all(args, frame)
    if name == "getattr" and len(args) > 1 and isinstance(constant(args[1]), str):
        made = ast.Attribute(first, str(constant(args[1])), ast.Load())
        ast.copy_location(made, e)
        return join([ev.value(made, frame, path), ev.all(args[2:], frame)])
    if name == "vars":
        return ev.value(first, frame, path)
    if name == "id" or (name == "hash" and not isinstance(constant(first), int)):
        return origins.here("process", "different in every process", e, frame)
    if name == "open":
        return join([UNKNOWN, ev.value(first, frame)])
    if name == "hasattr" and len(args) > 1:
        return _has(ev, first, constant(args[1]), frame)
    if name in ("hasattr", "isinstance", "issubclass", "callable", "type"):
        # What type a value has seldom differs where its content does.
        return UNIFORM if ev.value(first, frame).level == "uniform" else UNKNOWN
    key = argument(e, "key")
    if name in ("max", "min") and key is not None:
        # Which of the items it is, the key says.
        return join([ev.all(args, frame), key_of(ev, key, first, frame).of_data()])
    return ev.all(args, frame) if is_pure(f"builtins.{name}") else by_arguments(ev, e, frame, name)


def _has(ev: Evaluator, e: ast.expr, name: object, frame: Frame) -> Value:
    """Whether an object has an attribute: for one of the tree's classes, whether the program ever stored it there."""
    found = [
        (Frame(function, None, frame.depth + 1), d)
        for cls in ev.objects.classes(e, frame)
        for function, d in ev.objects.stores(cls, str(name))
    ]
    if not isinstance(name, str) or any(inside.function.name == "__init__" for inside, _ in found):
        return UNIFORM
    return control.stored_anywhere(ev, found, (KIND,), before=True)


def _same_items(ev: Evaluator, name: str, first: ast.expr, e: ast.Call, frame: Frame, path: Path) -> Value:
    """The items are those of the argument; `sorted` takes the order of a set away, and its key can bring one in."""
    value = ev.value(first, frame, path)
    if name == "sorted":
        key = argument(e, "key")
        if path and path[0] in (("order", None), EACH) and value.source in origins.ORDERS:
            value = ev.value(first, frame, (LEN,))
        if key is not None and path and path[0][0] in ("order", "each", "item"):
            value = join([value, key_of(ev, key, first, frame).of_data()])
    if name in ("set", "frozenset") and path and path[0][0] in ("each", "order"):
        value = join([value, origins.set_order(e, frame)])
    return value


def key_of(ev: Evaluator, key: ast.expr, items: ast.expr, frame: Frame) -> Value:
    """What a key function returns for any of the items."""
    target = frame.function.module.by_node.get(key) or resolve(frame.function, key)
    if isinstance(key, ast.Attribute) and key.attr in _LOOKS_UP:
        return ev.value(key.value, frame, (("item", None),))
    if not isinstance(target, Function):
        return UNIFORM
    given = {name: Argument(items, frame, (EACH,)) for name in target.parameters[:1]}
    inside = Frame(target, given, frame.depth + 1, (*frame.key, key))
    return UNKNOWN if inside.too_deep else body(ev, target, inside, (), f"{text(key, 40)}()")


def _combined(ev: Evaluator, name: str, args: list[ast.expr], frame: Frame, path: Path) -> Value:
    if path and path[0] == EACH and len(path) > 1 and path[1][0] == "item":
        index = path[1][1]
        if name == "enumerate":
            return UNIFORM if index == 0 else ev.value(args[0], frame, (EACH, *path[2:]))
        if name == "zip" and isinstance(index, int) and index < len(args):
            return ev.value(args[index], frame, (EACH, *path[2:]))
    if path and path[0] in (LEN, EACH) and name in ("enumerate", "zip", "map"):
        items = args[1:] if name == "map" else args
        return ev.all(items, frame, path[:1])
    return ev.all(args, frame)
