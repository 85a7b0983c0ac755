"""Parts of containers: an item, all items, the length."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import External, resolve
from rankandfile.source.program.scopes import binding_scope

from . import origins
from .frame import Frame
from .reaching_assignments import reaching
from .syntax import COMPREHENSIONS, EACH, HOLDS, LEN, Path, children, constant, dotted, is_range
from .value import ORDERS, UNIFORM, Value, join

if TYPE_CHECKING:
    from .evaluate import Evaluator

_OF_SETS = (ast.Sub, ast.BitAnd, ast.BitOr, ast.BitXor)


def subscript(ev: Evaluator, e: ast.Subscript, frame: Frame, path: Path) -> Value:
    base = resolve(frame.function, e.value)
    if isinstance(base, External) and base.dotted == "os.environ":
        return origins.asked_of_environment(e.slice, e, frame)
    if isinstance(e.slice, ast.Slice):
        which = ev.all(list(children(e.slice)), frame).of_data(
            "shard_length" if path[:1] == (LEN,) else "local_data"
        )
        return join([ev.value(e.value, frame, path), which])
    key = constant(e.slice)
    item = ev.value(e.value, frame, (("item", key), *path))
    return item if key is not None else join([item, ev.value(e.slice, frame).of_data()])


def sequence(ev: Evaluator, e: ast.Tuple | ast.List | ast.Set, frame: Frame, path: Path) -> Value:
    starred = [x for x in e.elts if isinstance(x, ast.Starred)]
    kind, key = path[0] if path else ("", None)
    if kind == "len":
        return ev.all([x.value for x in starred], frame, path)
    if kind == "item" and isinstance(key, int) and not starred and -len(e.elts) <= key < len(e.elts):
        return ev.value(e.elts[key], frame, path[1:])
    value = ev.all(e.elts, frame, path[1:] if kind in ("item", "each") else ())
    if kind == "holds" or value.differs:
        return value
    if isinstance(e, ast.Set):
        return join([value, order_of_set(e, frame)]) if kind in ("each", "order", "item") else value
    return join([value, *(order(ev, x.value, frame) for x in starred)])


def order(ev: Evaluator, e: ast.expr, frame: Frame) -> Value:
    """What is made of items one after the other: whether they come in another order on another rank."""
    items = ev.value(e, frame, (EACH,))
    return items if items.source in ORDERS else UNIFORM


def order_of_set(e: ast.Set | ast.SetComp | ast.Call | ast.BinOp, frame: Frame) -> Value:
    """Words and most other things lie in a set where the process has happened to put them; numbers do not."""
    items = e.elts if isinstance(e, ast.Set) else e.args[:1] if isinstance(e, ast.Call) else []
    if isinstance(e, ast.Set) and len(items) < 2:
        return UNIFORM
    if isinstance(e, ast.Set) and _all_numbers(items):
        return UNIFORM
    of_numbers = isinstance(e, ast.Call) and len(items) == 1 and _numbers(items[0])
    return UNIFORM if of_numbers else origins.set_order(e, frame)


def _numbers(e: ast.expr) -> bool:
    """Whether these are plainly numbers."""
    if isinstance(e, (ast.List, ast.Tuple)):
        return _all_numbers(e.elts)
    return is_range(e)


def is_set(function: Function, e: ast.expr, left: int = 3) -> bool:
    """Whether an expression is plainly a set, or the keys of a table."""
    if isinstance(e, (ast.Set, ast.SetComp)):
        return True
    if isinstance(e, ast.Call):
        keys = isinstance(e.func, ast.Attribute) and e.func.attr in ("keys", "items") and not e.args
        return keys or dotted(e.func) in ("set", "frozenset")
    if isinstance(e, ast.BinOp):
        return isinstance(e.op, _OF_SETS) and any(is_set(function, side, left) for side in (e.left, e.right))
    if isinstance(e, ast.Name) and left and binding_scope(function, e.id) is function:
        made = [d.value for d in reaching(function).everywhere(e.id) if d.how == "assign" and not d.path]
        return bool(made) and all(v is not None and is_set(function, v, left - 1) for v in made)
    return False


def of_two_sets(e: ast.BinOp, frame: Frame) -> Value:
    """`done - missing`, `a.keys() & b`: a new set, in an order of its own."""
    plain = isinstance(e.op, _OF_SETS) and is_set(frame.function, e)
    numbers = all(isinstance(s, ast.Set) and _all_numbers(s.elts) for s in (e.left, e.right))
    return origins.set_order(e, frame) if plain and not numbers else UNIFORM


def _all_numbers(items: list[ast.expr]) -> bool:
    return all(isinstance(constant(item), (int, float)) for item in items)


def mapping(ev: Evaluator, e: ast.Dict, frame: Frame, path: Path) -> Value:
    kind, key = path[0] if path else ("", None)
    keys = [k for k in e.keys if k is not None]
    spread = [v for k, v in zip(e.keys, e.values, strict=True) if k is None]
    if kind in ("len", "each", "holds"):
        return join([ev.all(keys, frame), ev.all(spread, frame)])
    if kind in ("item", "attr") and key is not None:
        for one, value in zip(e.keys, e.values, strict=True):
            if constant(one) == key:
                return ev.value(value, frame, path[1:])
    return join([ev.all(keys, frame), ev.all(e.values, frame, path[1:] if kind == "item" else ())])


def view_of_dictionary(ev: Evaluator, receiver: ast.expr, name: str, frame: Frame, path: Path) -> Value:
    """Its keys, its values, or both; what one goes over of them, and how many there are."""
    one = (("item", None), *path[2 if name == "items" else 1 :])
    if path[:1] == (EACH,) and (name == "values" or path[1:2] == (("item", 1),)):
        return join([ev.value(receiver, frame, one), ev.value(receiver, frame, (LEN,))])
    if path[:2] == (EACH, ("item", 0)):
        return ev.value(receiver, frame, (EACH, *path[2:]))
    return ev.value(receiver, frame, path if path and path[0] in (LEN, EACH, HOLDS) else ())


def comprehension(ev: Evaluator, e: ast.expr, frame: Frame, path: Path) -> Value:
    assert isinstance(e, COMPREHENSIONS)
    kind, _key = path[0] if path else ("", None)
    conditions = [c for g in e.generators for c in g.ifs]
    rounds = join(ev.value(g.iter, frame, (LEN,)) for g in e.generators)
    which = join([rounds, ev.all(conditions, frame)])
    if kind == "len":
        return which
    if isinstance(e, ast.DictComp):
        keys = join([which, ev.value(e.key, frame)])
        if kind in ("each", "holds"):
            return keys
        return join([keys, ev.value(e.value, frame, path[1:] if kind == "item" else ())])
    value = join([which, ev.value(e.elt, frame, path[1:] if kind in ("item", "each") else ())])
    if isinstance(e, ast.SetComp):
        return join([value, order_of_set(e, frame)]) if kind in ("each", "order", "item") else value
    if kind in ("", "item") and not value.differs:
        return join([value, *(order(ev, g.iter, frame) for g in e.generators)])
    return value
