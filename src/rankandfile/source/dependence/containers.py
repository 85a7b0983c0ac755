"""Parts of containers: an item, all items, the length."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rankandfile.source.program.names import External, resolve

from . import origins
from .frame import Frame
from .syntax import COMPREHENSIONS, LEN, Path, children, constant
from .value import Value, join

if TYPE_CHECKING:
    from .evaluate import Evaluator


def subscript(ev: Evaluator, e: ast.Subscript, frame: Frame, path: Path) -> Value:
    base = resolve(frame.function, e.value)
    if isinstance(base, External) and base.dotted == "os.environ":
        return origins.environment(constant(e.slice), e, frame)
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
    if isinstance(e, ast.Set) and len(e.elts) > 1 and kind in ("each", "order"):
        return join([value, origins.set_order(e, frame)])
    return value


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
    return join([ev.all(keys, frame), ev.all(e.values, frame)])


def comprehension(ev: Evaluator, e: ast.expr, frame: Frame, path: Path) -> Value:
    assert isinstance(e, COMPREHENSIONS)
    kind, _key = path[0] if path else ("", None)
    conditions = [c for g in e.generators for c in g.ifs]
    rounds = join(ev.value(g.iter, frame, (LEN,)) for g in e.generators)
    which = join([rounds, ev.all(conditions, frame)])
    if kind == "len":
        return which
    if isinstance(e, ast.DictComp):
        return join([which, ev.all([e.key] if kind in ("each", "holds") else [e.key, e.value], frame)])
    value = join([which, ev.value(e.elt, frame, path[1:] if kind in ("item", "each") else ())])
    if isinstance(e, ast.SetComp) and kind in ("each", "order"):
        return join([value, origins.set_order(e, frame)])
    return value
