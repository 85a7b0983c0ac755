"""What an expression can be an object of: found by the calls that made it, or by an annotation."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from rankandfile.source.dependence.assignments import Definition
from rankandfile.source.dependence.callers import callers_of
from rankandfile.source.dependence.frame import Frame, Instance
from rankandfile.source.dependence.index import MOST_SITES, Index, Site
from rankandfile.source.dependence.stores import given_to_field, stores_of
from rankandfile.source.dependence.syntax import Path, dotted
from rankandfile.source.program.families import family
from rankandfile.source.program.modules import Function, Module
from rankandfile.source.program.names import Class, External, body_fields, method, resolve
from rankandfile.source.program.scopes import returned_values
from rankandfile.source.registry.tables import TABLE, canonical

from .annotations import annotated_as
from .called_later import Later, calls_later
from .frameworks_own import outside
from .held_by_names import defined, named, variable
from .made_by_calls import elements, made
from .registered import calls_of_entries
from .tables import held

_DEEPEST = 10
_HELD = frozenset(name.rpartition(".")[2] for name in TABLE.holds)
MOST_STEPS = 4000


class Objects:
    """Instances of expressions, over the whole program. Bounded in depth and in number."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.left = MOST_STEPS
        self._known: dict[tuple[object, ...], list[Instance]] = {}
        self._open: dict[tuple[object, ...], int] = {}
        self._outermost = 0
        """Of what was met again while it was open, the outermost."""
        self._cut = 0
        self._later: dict[Function, list[Later]] = {}
        self._stores: dict[tuple[Class, str], list[tuple[Function, Definition]]] = {}
        self._callers: dict[Function, list[tuple[Site, bool]]] = {}

    def of(self, e: ast.expr, frame: Frame, depth: int = 0, path: Path = ()) -> list[Instance]:
        key = (e, frame.function, frame.key, path)
        if key in self._known:
            return self._known[key]
        if key in self._open:
            self._outermost = min(self._outermost, self._open[key])
            return []
        self.left -= 1
        if depth > _DEEPEST or self.left < 0:
            self._cut += 1
            return []
        place = self._open[key] = len(self._open)
        before, outside, self._outermost = self._cut, self._outermost, place
        try:
            found = list(islice(self._found(e, frame, depth, path), MOST_SITES))
        finally:
            del self._open[key]
            whole = self._outermost >= place
            self._outermost = outside if whole else min(outside, self._outermost)
        # What was cut short by a bound, or lacks what is still open, is good for this question only.
        if (self._cut == before and whole) or (depth == 0 and self.left >= 0):
            self._known[key] = found
        return found

    def classes(self, e: ast.expr, frame: Frame) -> list[Class]:
        return list(dict.fromkeys(i.type for i in self.of(e, frame) if isinstance(i.type, Class)))

    def externals(self, e: ast.expr, frame: Frame) -> list[str]:
        """Dotted names of the classes outside the tree: the object's, or those that its class derives from; of one that
        derives from nothing there, as one that is mixed in, those of the classes that derive from it."""
        names: list[str] = []
        for each in self.of(e, frame):
            if isinstance(each.type, Class):
                names.extend(next((found for one in family(each.type) if (found := outside(one))), []))
            else:
                names.append(each.type)
        return list(dict.fromkeys(names))

    def _found(self, e: ast.expr, frame: Frame, depth: int, path: Path) -> Iterator[Instance]:
        one = _held_outside(e, frame)
        if one is not None:
            yield from [] if path else [one]
        elif isinstance(e, ast.Call):
            yield from made(self, e, frame, depth, path)
        elif isinstance(e, ast.Name):
            yield from named(self, e, frame, depth, path)
        elif isinstance(e, ast.Attribute):
            yield from self._attribute(e, frame, depth, path)
        elif isinstance(e, (ast.Tuple, ast.List)) and path:
            yield from elements(self, e.elts, frame, depth, path)
        elif isinstance(e, (ast.ListComp, ast.GeneratorExp, ast.SetComp)) and path:
            yield from self.of(e.elt, frame, depth + 1, path[1:])
        elif path and isinstance(e, (ast.Dict, ast.DictComp)):
            yield from held(self, e, frame, depth, path)
        elif isinstance(e, ast.Subscript):
            yield from self.of(e.value, frame, depth + 1, (("item", None), *path))
        elif isinstance(e, (ast.Await, ast.NamedExpr)):
            yield from self.of(e.value, frame, depth + 1, path)
        elif isinstance(e, ast.IfExp):
            yield from self.of(e.body, frame, depth + 1, path)
            yield from self.of(e.orelse, frame, depth + 1, path)
        elif isinstance(e, ast.BoolOp):
            for part in e.values:
                yield from self.of(part, frame, depth + 1, path)

    def _attribute(self, e: ast.Attribute, frame: Frame, depth: int, path: Path) -> Iterator[Instance]:
        base = resolve(frame.function, e.value)
        if isinstance(base, Module):
            yield from variable(self, base.functions[0], e.attr, frame, depth, path)
            return
        for instance in self.of(e.value, frame, depth + 1):
            if isinstance(instance.type, Class):
                known = list(self._of_instance(instance, instance.type, e.attr, frame, depth, path))
                known = known or list(self._declared(instance.type, e.attr, frame, path))
                yield from known or ([] if path else _of_a_base(instance.type, e.attr, frame))
            else:
                yield Instance(canonical(f"{instance.type}.{e.attr}"), None, frame)

    def _of_instance(
        self, instance: Instance, cls: Class, name: str, frame: Frame, depth: int, path: Path
    ) -> Iterator[Instance]:
        for function, definition in self.stores(cls, name):
            yield from defined(self, definition, Frame(function, None, frame.depth + 1), depth, path)
        for given, outer in given_to_field(self, instance, name, frame):
            yield from self.of(given, outer, depth + 1, path)
        found = method(cls, name)
        if found is not None and is_property(found):
            inside = Frame(found, None, frame.depth + 1)
            values = [
                each for value in returned_values(found) for each in self.of(value, inside, depth + 1, path)
            ]
            returns = getattr(found.node, "returns", None)
            yield from values or annotated_as(returns, found, frame, path)

    @staticmethod
    def _declared(cls: Class, name: str, frame: Frame, path: Path) -> Iterator[Instance]:
        """What the body of the class says that the attribute is."""
        for each, s in body_fields(cls, name):
            if isinstance(s, ast.AnnAssign):
                yield from annotated_as(s.annotation, each.module.functions[0], frame, path)

    def stores(self, cls: Class, attribute: str) -> list[tuple[Function, Definition]]:
        """Where the program stores an attribute of objects of the class, in its methods and elsewhere."""
        key = (cls, attribute)
        if key not in self._stores:
            self._stores[key] = []
            self._stores[key] = stores_of(self, cls, attribute)
        return self._stores[key]

    def callers(self, function: Function) -> list[tuple[Site, bool]]:
        """Calls of the function in the program, and whether the object is its first argument there."""
        if function not in self._callers:
            self._callers[function] = []
            looked_up = calls_of_entries(self.index, function)
            known = [*looked_up, *callers_of(self, function)]
            # Where no name leads to it, what was seen does.
            seen = [(site, function.owner is not None) for site in self.index.seen.get(function, ())]
            self._callers[function] = known or seen
        return self._callers[function]

    def later(self, function: Function) -> list[Later]:
        """Calls that run it as what somebody was handed: a listener, a hook."""
        if function not in self._later:
            self._later[function] = []
            self._later[function] = list(islice(calls_later(self, function), MOST_SITES))
        return self._later[function]


def _held_outside(e: ast.expr, frame: Frame) -> Instance | None:
    """The object of a variable that a package has, such as `MPI.COMM_WORLD`."""
    word = e.attr if isinstance(e, ast.Attribute) else e.id if isinstance(e, ast.Name) else ""
    if word not in _HELD:
        return None
    target = resolve(frame.function, e)
    kind = TABLE.holds.get(canonical(target.dotted)) if isinstance(target, External) else None
    return None if kind is None else Instance(kind, None, frame)


def _of_a_base(cls: Class, name: str, frame: Frame) -> Iterator[Instance]:
    """What a framework keeps in an attribute of the objects of its classes, as the trainer in those of a module."""
    for base in outside(cls):
        full = f"{base}.{name}"
        if (kind := canonical(full)) != full:
            yield Instance(kind, None, frame)


def is_property(function: Function) -> bool:
    node = function.node
    if isinstance(node, (ast.Module, ast.Lambda)):
        return False
    names = [(dotted(d) or "").rsplit(".", 1)[-1] for d in node.decorator_list]
    return any(name in ("property", "cached_property") for name in names)


def property_of(cls: Class, name: str) -> Function | None:
    """The function of a property of that name: a method, or what `first = property(lambda self: ...)` is made of."""
    own = method(cls, name)
    if own is not None:
        return own if is_property(own) else None
    for each, s in body_fields(cls, name):
        made = s.value
        if not isinstance(made, ast.Call) or dotted(made.func) != "property" or not made.args:
            return None
        return each.module.by_node.get(made.args[0]) if isinstance(made.args[0], ast.Lambda) else None
    return None
