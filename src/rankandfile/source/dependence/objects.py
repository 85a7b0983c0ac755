"""What an expression can be an object of: found by the calls that made it, or by an annotation."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from rankandfile.source.program.modules import Function, Module
from rankandfile.source.program.names import (
    Class,
    External,
    external_bases,
    imported_variable,
    method,
    resolve,
    scope_of,
)
from rankandfile.source.registry.entry import Source
from rankandfile.source.registry.tables import TABLE, canonical

from .assignments import Definition
from .callers import callers_of, is_of_class, own_class
from .frame import Frame, Instance, called
from .index import MOST_SITES, Index, Site
from .reaching_assignments import reaching
from .stores import given_to_field, stores_of
from .syntax import EACH, Path, dotted, loop_of

_DEEPEST = 10
MOST_STEPS = 4000
_HOLD_THE_SAME = {
    "torch.nn.ModuleList",
    "builtins.list",
    "builtins.tuple",
    "builtins.reversed",
    "builtins.sorted",
    "builtins.iter",
}
_NO_CLASS = ("builtins.", "typing.")
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


class Objects:
    """Instances of expressions, over the whole program. Bounded in depth and in number."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.left = MOST_STEPS
        self._known: dict[tuple[object, ...], list[Instance]] = {}
        self._open: set[tuple[object, ...]] = set()
        self._cut = 0
        self._stores: dict[tuple[Class, str], list[tuple[Function, Definition]]] = {}
        self._callers: dict[Function, list[tuple[Site, bool]]] = {}

    def of(self, e: ast.expr, frame: Frame, depth: int = 0, path: Path = ()) -> list[Instance]:
        key = (e, frame.function, frame.key, path)
        if key in self._known:
            return self._known[key]
        self.left -= 1
        if depth > _DEEPEST or key in self._open or self.left < 0:
            self._cut += 1
            return []
        self._open.add(key)
        before = self._cut
        try:
            found = list(islice(self._found(e, frame, depth, path), MOST_SITES))
        finally:
            self._open.discard(key)
        # What was cut short by a bound or a cycle is good for this question only.
        if self._cut == before or (depth == 0 and self.left >= 0):
            self._known[key] = found
        return found

    def classes(self, e: ast.expr, frame: Frame) -> list[Class]:
        return list(dict.fromkeys(i.type for i in self.of(e, frame) if isinstance(i.type, Class)))

    def externals(self, e: ast.expr, frame: Frame) -> list[str]:
        """Dotted names of the classes outside the tree: the object's, or those that its class derives from."""
        names: list[str] = []
        for each in self.of(e, frame):
            names.extend(outside(each.type) if isinstance(each.type, Class) else [each.type])
        return list(dict.fromkeys(names))

    def _found(self, e: ast.expr, frame: Frame, depth: int, path: Path) -> Iterator[Instance]:
        if isinstance(e, ast.Call):
            yield from self._made(e, frame, depth, path)
        elif isinstance(e, ast.Name):
            yield from self._named(e, frame, depth, path)
        elif isinstance(e, ast.Attribute):
            yield from self._attribute(e, frame, depth, path)
        elif isinstance(e, (ast.Tuple, ast.List)) and path:
            yield from self._elements(e.elts, frame, depth, path)
        elif isinstance(e, (ast.ListComp, ast.GeneratorExp, ast.SetComp)) and path:
            yield from self.of(e.elt, frame, depth + 1, path[1:])
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

    def _elements(self, elements: list[ast.expr], frame: Frame, depth: int, path: Path) -> Iterator[Instance]:
        kind, key = path[0]
        if kind == "item" and isinstance(key, int) and -len(elements) <= key < len(elements):
            elements = [elements[key]]
        for element in elements:
            plain = element.value if isinstance(element, ast.Starred) else element
            yield from self.of(plain, frame, depth + 1, path[1:])

    def _made(self, e: ast.Call, frame: Frame, depth: int, path: Path) -> Iterator[Instance]:
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
                    yield from self.of(value, frame, depth + 1, path)
            elif name in _HOLD_THE_SAME and e.args and path:
                yield from self.of(e.args[0], frame, depth + 1, path)
            elif name == "torch.nn.Sequential" and path:
                yield from self._elements(e.args, frame, depth, path)
            elif name == "builtins.next" and e.args:
                yield from self.of(e.args[0], frame, depth + 1, (EACH, *path))
            elif name == "builtins.enumerate" and e.args and len(path) > 1:
                yield from self.of(
                    e.args[0], frame, depth + 1, (EACH, *path[2:]) if path[1] == ("item", 1) else ()
                )
            elif not path or name in TABLE.makes:
                yield Instance(TABLE.makes.get(name, name), e, frame)
        elif isinstance(target, Function):
            bound = is_of_class(target)
            yield from self._returned(target, e, frame, depth, path, bound=bound)
        elif isinstance(e.func, ast.Attribute):
            if e.func.attr in _SAME:
                yield from self.of(e.func.value, frame, depth + 1, path)
            for instance in self.of(e.func.value, frame, depth + 1):
                if isinstance(instance.type, Class):
                    found = method(instance.type, e.func.attr)
                    if found is not None:
                        yield from self._returned(found, e, frame, depth, path, bound=True)
                else:
                    yield Instance(canonical(f"{instance.type}.{e.func.attr}"), e, frame)

    def _returned(
        self, target: Function, call: ast.Call, frame: Frame, depth: int, path: Path, *, bound: bool
    ) -> Iterator[Instance]:
        inside = called(target, call, frame, bound)
        if inside.too_deep:
            return
        for node in ast.walk(target.node):
            if isinstance(node, ast.Return) and node.value is not None:
                yield from self.of(node.value, inside, depth + 1, path)

    def _named(self, e: ast.Name, frame: Frame, depth: int, path: Path) -> Iterator[Instance]:
        loop = loop_of(frame.function.module, e)
        if loop is not None:
            yield from self.of(loop[0], frame, depth + 1, (*loop[1], *path))
            return
        scope: Function | None = frame.function
        while scope is not None and e.id not in scope_of(scope).names:
            scope = scope.parent
        if scope is None:
            return
        if e.id == "self" and scope.owner is not None:
            yield Instance(Class(scope.module, scope.owner), None, frame)
            return
        inside = frame if scope is frame.function else Frame(scope, None, frame.depth + 1)
        if isinstance(scope.node, ast.Module) and scope is not frame.function:
            inside = Frame(scope, {}, frame.depth + 1)
        for definition in reaching(scope).everywhere(e.id):
            yield from self._defined(definition, inside, depth, path)

    def _defined(self, d: Definition, frame: Frame, depth: int, path: Path) -> Iterator[Instance]:
        if d.how == "parameter":
            yield from self._parameter(d.name, frame, depth, path)
        elif d.how == "assign" and d.value is not None:
            yield from self.of(d.value, frame, depth + 1, (*(p for p in d.path if p[0] != "enter"), *path))
        elif d.how == "definition":
            origin = imported_variable(frame.function.module, d.name, d.site or d.node.what)
            if origin is not None:
                body, name = origin
                for each in reaching(body).everywhere(name):
                    yield from self._defined(each, Frame(body, {}, frame.depth + 1), depth + 1, path)
        elif d.how == "mutate" and d.value is not None and path:
            yield from self.of(d.value, frame, depth + 1, path[1:])

    def _parameter(self, name: str, frame: Frame, depth: int, path: Path) -> Iterator[Instance]:
        if frame.given is not None:
            given = frame.given.get(name)
            if given is not None:
                yield from self.of(given.value, given.frame, depth + 1, (*given.path, *path))
            return
        annotated = list(self._annotated(name, frame)) if not path else []
        if annotated:
            yield from annotated
            return
        hooked = hook_parameter(frame.function, name)
        if isinstance(hooked, str) and not path:
            yield Instance(hooked, None, frame)
            return
        for site, bound in self.callers(frame.function):
            outer = Frame(site.function, None, frame.depth + 1)
            if not outer.too_deep:
                given = (called(frame.function, site.call, outer, bound).given or {}).get(name)
                if given is not None:
                    yield from self.of(given.value, given.frame, depth + 1, (*given.path, *path))

    def _annotated(self, name: str, frame: Frame) -> Iterator[Instance]:
        node = frame.function.node
        if isinstance(node, (ast.Module, ast.Lambda)):
            return
        for parameter in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            if parameter.arg == name and parameter.annotation is not None:
                for part in ast.walk(parameter.annotation):
                    if isinstance(part, (ast.Name, ast.Attribute)):
                        target = resolve(frame.function, part)
                        if isinstance(target, Class):
                            yield Instance(target, None, frame)
                        elif isinstance(target, External) and not target.dotted.startswith(_NO_CLASS):
                            yield Instance(canonical(target.dotted), None, frame)

    def _attribute(self, e: ast.Attribute, frame: Frame, depth: int, path: Path) -> Iterator[Instance]:
        base = resolve(frame.function, e.value)
        if isinstance(base, Module):
            body = base.functions[0]
            for definition in reaching(body).everywhere(e.attr):
                yield from self._defined(definition, Frame(body, {}, frame.depth + 1), depth, path)
            return
        for instance in self.of(e.value, frame, depth + 1):
            if isinstance(instance.type, Class):
                for function, definition in self.stores(instance.type, e.attr):
                    yield from self._defined(definition, Frame(function, None, frame.depth + 1), depth, path)
                for given, outer in given_to_field(self, instance, e.attr, frame):
                    yield from self.of(given, outer, depth + 1, path)
                found = method(instance.type, e.attr)
                if found is not None and is_property(found):
                    inside = Frame(found, None, frame.depth + 1)
                    for node in ast.walk(found.node):
                        if isinstance(node, ast.Return) and node.value is not None:
                            yield from self.of(node.value, inside, depth + 1, path)
            else:
                yield Instance(canonical(f"{instance.type}.{e.attr}"), None, frame)

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
            self._callers[function] = callers_of(self, function)
        return self._callers[function]


def outside(cls: Class) -> list[str]:
    """The classes outside the tree that a class derives from."""
    return [canonical(name) for name in sorted(external_bases(cls))]


def hook_parameter(function: Function, name: str) -> str | Source | None:
    """What a framework gives a method of a class derived from one of its own: a class's name, or a kind of value."""
    if function.owner is None:
        return None
    for base in outside(Class(function.module, function.owner)):
        given = TABLE.hooks.get(base, {}).get(name)
        if given is not None:
            return given
    return None


def is_property(function: Function) -> bool:
    node = function.node
    if isinstance(node, (ast.Module, ast.Lambda)):
        return False
    names = [(dotted(d) or "").rsplit(".", 1)[-1] for d in node.decorator_list]
    return any(name in ("property", "cached_property") for name in names)
