"""What the functions of Python itself make of their arguments."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import resolve
from rankandfile.source.registry.tables import is_pure

from . import containers, control, origins
from .frame import Argument, Frame
from .returned import body, by_arguments
from .syntax import EACH, KIND, LEN, Path, argument, arguments, constant, text
from .value import ORDERS, UNIFORM, UNKNOWN, Value, join
from .written.unsaid import taken_away

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
    if name == "iter" and len(args) > 1:
        return by_arguments(ev, e, frame, name)  # until the function gives that
    if name in _SAME_ITEMS:
        return _same_items(ev, name, first, e, frame, path)
    if name == "dict.fromkeys":
        return ev.value(first, frame, path)
    if name == "len":
        return ev.value(first, frame, (LEN,))
    if name == "next":
        item = join([ev.value(first, frame, (EACH, *path)), ev.all(args[1:], frame)])
        # Of an iterator that lives on, it is the next after those that were asked for before.
        return join([item, UNKNOWN]) if isinstance(first, ast.Attribute) and not ev.in_depth else item
    if name in ("enumerate", "zip", "map", "filter"):
        return _combined(ev, name, args, frame, path)
    if name == "range":
        # Where it ends says how often, and not which number comes in a round.
        numbers = [*(args[:1] if len(args) > 1 else ()), *args[2:]]
        return ev.all(numbers, frame) if path[:1] == (EACH,) else ev.all(args, frame)
    if name == "getattr" and len(args) > 1 and isinstance(constant(args[1]), str):
        made = ast.Attribute(first, str(constant(args[1])), ast.Load())
        ast.copy_location(made, e)
        return join([ev.value(made, frame, path), ev.all(args[2:], frame)])
    if name == "vars":
        return ev.value(first, frame, path)
    if name == "id" or (name == "hash" and not isinstance(constant(first), int)):
        return origins.here("process", "different in every process", e, frame)
    if name == "open":
        # Which file it is may go by the rank's number; what is in it does not.
        return join([UNKNOWN, ev.value(first, frame).of_data()])
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
    if name in taken_away(ev.index):
        return UNKNOWN
    if not isinstance(name, str) or any(inside.function.name == "__init__" for inside, _ in found):
        return UNIFORM
    return control.stored_anywhere(ev, found, (KIND,), before=True)


def _same_items(ev: Evaluator, name: str, first: ast.expr, e: ast.Call, frame: Frame, path: Path) -> Value:
    """The items are those of the argument; `sorted` takes the order of a set away, and its key can bring one in."""
    value = ev.value(first, frame, path)
    if name == "sorted":
        key = argument(e, "key")
        if path and path[0][0] in ("order", "each", "item") and value.source in ORDERS:
            value = ev.value(first, frame, (LEN,))
        if value.source in ORDERS:
            # An order alone says how many there are where a loop over them ends early, and else not.
            value = UNKNOWN
        if key is not None and path and path[0][0] in ("order", "each", "item"):
            value = join([value, key_of(ev, key, first, frame).of_data()])
    if name in ("set", "frozenset") and path and path[0][0] in ("each", "order", "item"):
        value = join([value, containers.order_of_set(e, frame)])
    elif name in ("list", "tuple", "reversed", "iter") and (not path or path[0][0] == "item"):
        value = value if value.differs else join([value, containers.order(ev, first, frame)])
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
    by_function = [key_of(ev, args[0], args[1], frame)] if name in ("map", "filter") and len(args) > 1 else []
    if path and path[0] in (LEN, EACH) and name in ("enumerate", "zip", "map"):
        items = args[1:] if name == "map" else args
        value = ev.all(items, frame, path[:1])
        # As many as there were, whatever is made of them.
        return value if name != "map" or path[0] == LEN else join([value, *by_function])
    return join([ev.all(args, frame), *by_function])


def by_functions(ev: Evaluator, e: ast.Call, frame: Frame) -> Value:
    """What the program's own functions among the arguments decide, as those of `takewhile` and `reduce` do."""
    args = arguments(e)
    found: list[Value] = []
    for given in args:
        target = frame.function.module.by_node.get(given) or resolve(frame.function, given)
        if isinstance(target, Function):
            items = next((other for other in args if other is not given), given)
            found.append(key_of(ev, given, items, frame))
    return join(found)
