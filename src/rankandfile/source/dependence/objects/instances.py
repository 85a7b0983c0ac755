"""Objects of classes of the tree: their fields, and what a loop, an index or a length makes of them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rankandfile.source.dependence import attributes, failures
from rankandfile.source.dependence.frame import Frame, Instance
from rankandfile.source.dependence.returned import body
from rankandfile.source.dependence.stores import fields_of
from rankandfile.source.dependence.syntax import EACH, KIND, LEN, Path, argument, content, dotted, text
from rankandfile.source.dependence.value import UNIFORM, UNKNOWN, Value, join
from rankandfile.source.program.kept import kept
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class, body_fields, method

from .of_expressions import property_of

if TYPE_CHECKING:
    from rankandfile.source.dependence.evaluate import Evaluator


def field(
    ev: Evaluator, cls: Class, name: str, frame: Frame, path: Path, made: Instance | None = None
) -> Value:
    """An attribute that no method stores: a field of a dataclass, or a constant of the class."""
    for each, s in body_fields(cls, name):
        outer = Frame(each.module.functions[0], {}, frame.depth + 1)
        default = maker_or_default(s.value)
        values = [ev.value(default, outer, path)] if default is not None else []
        kinds = ev.objects.classes(default, outer) if isinstance(default, ast.Call) else []
        asked = [found for kind in kinds if (found := method(kind, "__get__")) is not None]
        values.extend(body(ev, each, Frame(each, None, frame.depth + 1), path, name) for each in asked)
        if isinstance(s, ast.AnnAssign):
            values.extend(_field_given(ev, each, name, frame, path, made))
        return join(values) if values else UNKNOWN
    return UNKNOWN


def maker_or_default(value: ast.expr | None) -> ast.expr | None:
    """What a field has where nothing is given: of `field(default_factory=f)` it is `f()`."""
    if not isinstance(value, ast.Call) or (dotted(value.func) or "").rpartition(".")[2] != "field":
        return value
    maker = argument(value, "default_factory")
    if maker is None:
        return argument(value, "default")
    return ast.copy_location(ast.Call(maker, [], []), maker)


def has_field(cls: Class, name: str) -> bool:
    """The body of the class gives the name a value."""
    return any(s.value is not None for _, s in body_fields(cls, name))


def _field_given(
    ev: Evaluator, cls: Class, name: str, frame: Frame, path: Path, made: Instance | None
) -> list[Value]:
    fields = fields_of(cls)
    sites = [(s.call, Frame(s.function, None, frame.depth + 1)) for s in ev.index.made(cls)[:6]]
    if made is not None and made.made is not None:
        sites = [(made.made, made.frame)]
    found = []
    for call, outer in sites:
        if outer.too_deep:
            continue
        value = argument(call, fields.index(name), name)
        spread = [k.value for k in call.keywords if k.arg is None]
        # Of `Batch(*parts)` any of the parts may be this field.
        parts = [a.value for a in call.args if isinstance(a, ast.Starred)]
        if value is not None:
            found.append(ev.value(value, outer, path))
        else:
            found.append(ev.all(spread, outer))
            found.extend(ev.value(each, outer, (EACH, *path)) for each in parts)
    return found


def instance(ev: Evaluator, cls: Class, e: ast.Call, frame: Frame, path: Path) -> Value:
    """A new object: an item, its length, an attribute, or what it was made of."""
    kind, key = path[0] if path else ("", None)
    if path[:1] == (KIND,):
        return UNIFORM
    if kind == "attr" and isinstance(key, str):
        found = property_of(cls, key)
        if found is not None:
            inside = Frame(found, {}, frame.depth + 1, (*frame.key, e))
            return UNKNOWN if inside.too_deep else body(ev, found, inside, path[1:], f"{cls.name}.{key}")
        return attributes.of_class(ev, cls, key, frame, path[1:])
    if kind in _SPECIAL:
        return _protocol(ev, cls, _SPECIAL[kind], e, frame, path)
    return ev.all(content(e), frame)


_SPECIAL = {"len": "__len__", "item": "__getitem__", "each": "__iter__"}


def of_itself(ev: Evaluator, cls: Class, frame: Frame, path: Path) -> Value:
    """What a method finds in its own object by going over it, asking for its length or for an item."""
    special = _SPECIAL.get(path[0][0]) if path else None
    asked = [method(cls, name) for name in {special, "__iter__" if special == "__len__" else special} if name]
    # An iterator that gives itself adds nothing: what it gives next, its other methods say.
    if special is None or not any(asked) or frame.function in asked:
        return UNIFORM
    return _protocol(ev, cls, special, _own_name(frame.function), frame, path)


@kept
def _own_name(function: Function) -> ast.Name:
    return ast.copy_location(ast.Name("self", ast.Load()), function.node)


def _protocol(ev: Evaluator, cls: Class, special: str, e: ast.expr, frame: Frame, path: Path) -> Value:
    """`len(x)`, `x[k]` and `for ... in x` for an object of a class of the tree."""
    # A loop over an object goes round as often as its iterator yields; `len` says so only where there is none.
    names = {"__len__": ("__iter__", "__len__"), "__iter__": ("__iter__", "__getitem__")}.get(
        special, (special,)
    )
    for name in names:
        found = method(cls, name)
        if found is None:
            continue
        inside = Frame(found, None, frame.depth + 1, (*frame.key, e))
        if inside.too_deep:
            return UNKNOWN
        if name == "__iter__":
            made = body(ev, found, inside, path, f"iter({text(e)})")
            step = method(cls, "__next__")
            if step is None:
                return made
            following = Frame(step, None, frame.depth + 1, (*frame.key, e))
            if path[0] == LEN:
                return join([made, failures.ends(ev, following)])
            return join([made, body(ev, step, following, path[1:], f"next({text(e)})")])
        rest = path[1:]
        return body(ev, found, inside, rest, f"{text(e)}.{name}()")
    return ev.all(content(e), frame) if isinstance(e, ast.Call) else UNKNOWN
