"""What is stored into a container, or taken out of it, and which part of the container that changes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from msgspec.structs import replace

from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import resolve

from . import control
from .assignments import Definition
from .frame import Frame, called
from .reaching_assignments import reaching
from .syntax import HOLDS, KIND, LEN, Path, text
from .value import UNIFORM, UNKNOWN, Link, Value, join

if TYPE_CHECKING:
    from .evaluate import Evaluator

_MANY = ("extend", "update")


def matters(d: Definition, path: Path) -> bool:
    """What is taken out of a container changes how much is in it, and what, and no item that is left; what puts it in
    another order changes neither of the first; what its items are given, not how many there are; nor does what comes
    into a tensor by a message."""
    if d.in_each and path[:1] in ((LEN,), (KIND,)):
        return False
    if d.how in ("reorder", "received"):
        return path[:1] not in ((LEN,), (HOLDS,), (KIND,))
    return d.how != "remove" or path[-1:] in ((LEN,), (HOLDS,))


def put_in_below(ev: Evaluator, d: Definition, frame: Frame, path: Path) -> Value:
    """The same, where a function that the container is given to stores the item, or takes one out."""
    call, parameter = d.site, str(d.path[0][1])
    target = resolve(frame.function, call.func) if isinstance(call, ast.Call) else None
    if not isinstance(target, Function) or not isinstance(call, ast.Call):
        return UNKNOWN
    inside = called(target, call, frame, target.owner is not None and target.parameters[:1] == ["self"])
    if inside.too_deep:
        return UNKNOWN
    found = reaching(target).everywhere(parameter)
    return control.stored_anywhere(
        ev, [(inside, each) for each in found if each.how not in ("parameter", "outside")], path, before=True
    )


def put_in(ev: Evaluator, d: Definition, value: ast.expr, frame: Frame, path: Path, link: Link) -> Value:
    """The part `path` of the container, as far as this item makes it; `link` says where the item is stored."""
    kind, wanted = path[0] if path else ("", None)
    if path[:1] == (KIND,):
        return UNIFORM
    method = (
        d.site.func.attr if isinstance(d.site, ast.Call) and isinstance(d.site.func, ast.Attribute) else ""
    )
    if method and len(d.path) > 1:
        return _put_deeper(ev, d, value, frame, path, link)
    if kind == "len":
        return _length(ev, d, value, frame, method)
    under = UNIFORM if d.key is None else ev.value(d.key, frame).by(_under(d, d.key, frame))
    if kind == "holds":
        return _membership(ev, d, value, frame, method, under, link)
    key = d.path[0][1]
    if kind == "item" and None not in (key, wanted) and wanted != key:
        return UNIFORM
    rest = path[1:] if kind in ("item", "each") else ()
    return join([ev.value(value, frame, (*d.path[1:], *rest)).by(link), under])


def _put_deeper(ev: Evaluator, d: Definition, value: ast.expr, frame: Frame, path: Path, link: Link) -> Value:
    """Into a container in the container: of the outer one, neither how much is in it changes, nor under which keys."""
    kind, wanted = path[0] if path else ("", None)
    key = d.path[0][1]
    if kind not in ("item", "each") or (None not in (key, wanted) and wanted != key):
        return UNIFORM
    return put_in(ev, replace(d, path=d.path[1:]), value, frame, path[1:], link)


def _length(ev: Evaluator, d: Definition, value: ast.expr, frame: Frame, method: str) -> Value:
    """Equal keys count once: with keys that differ, how many there are may differ, or not."""
    if method in _MANY:
        return ev.value(value, frame, (LEN,))
    once = d.key if d.key is not None else value if method in ("add", "discard", "pop") else None
    return UNKNOWN if once is not None and ev.value(once, frame).level != "uniform" else UNIFORM


def _membership(
    ev: Evaluator, d: Definition, value: ast.expr, frame: Frame, method: str, under: Value, link: Link
) -> Value:
    if method == "setdefault":
        return under
    if method in _MANY:
        return ev.value(value, frame, (HOLDS,)).by(link)
    if method or d.how == "remove":
        return ev.value(value, frame).by(link)
    if d.key is None:
        return UNIFORM
    # A list holds what is stored, a dictionary the key.
    return join([under, UNIFORM if ev.value(value, frame).level == "uniform" else UNKNOWN])


def _under(d: Definition, key: ast.expr, frame: Frame) -> Link:
    file, shown = frame.function.module.path, text(key, 60)
    words = f"is given an item under `{shown}` at {file}:{d.line}"
    return Link(file, d.line, d.name, words, shown, kind="under a key")
