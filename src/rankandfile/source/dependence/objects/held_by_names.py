"""What a name can be an object of: by its assignments, by what calls hand to a parameter, or by its annotation."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rankandfile.source.dependence.assignments import Definition
from rankandfile.source.dependence.frame import Frame, Instance, called
from rankandfile.source.dependence.reaching_assignments import reaching
from rankandfile.source.dependence.syntax import ENTER, Path, loop_of
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class, External, imported_variable, resolve
from rankandfile.source.program.scopes import scope_of
from rankandfile.source.registry.tables import canonical

from .frameworks_own import hook_parameter
from .tables import iterated

if TYPE_CHECKING:
    from .of_expressions import Objects


_NO_CLASS = ("builtins.", "typing.")


def named(objects: Objects, e: ast.Name, frame: Frame, depth: int, path: Path) -> Iterator[Instance]:
    """By whatever the name is ever given in the scope that owns it."""
    loop = loop_of(frame.function.module, e)
    if loop is not None:
        yield from objects.of(loop[0], frame, depth + 1, (*loop[1], *path))
        return
    scope: Function | None = frame.function
    while scope is not None and e.id not in scope_of(scope).names:
        scope = scope.parent
    if scope is None:
        return
    if e.id == "self" and scope.owner is not None and path and objects.tables:
        yield from iterated(objects, Class(scope.module, scope.owner), frame, depth, path)
        return
    if e.id == "self" and scope.owner is not None:
        yield Instance(Class(scope.module, scope.owner), None, frame)
        return
    inside = frame if scope is frame.function else Frame(scope, None, frame.depth + 1)
    if isinstance(scope.node, ast.Module) and scope is not frame.function:
        inside = Frame(scope, {}, frame.depth + 1)
    for definition in reaching(scope).everywhere(e.id):
        yield from defined(objects, definition, inside, depth, path)


def defined(objects: Objects, d: Definition, frame: Frame, depth: int, path: Path) -> Iterator[Instance]:
    """What one definition gives its name."""
    if d.how == "parameter":
        yield from _parameter(objects, d.name, frame, depth, path)
    elif d.how == "assign" and d.value is not None:
        # Mostly a context manager gives its block itself; one that is written as a generator, what it yields.
        if ENTER in d.path:
            yield from objects.of(d.value, frame, depth + 1, (*d.path, *path))
        yield from objects.of(d.value, frame, depth + 1, (*(p for p in d.path if p != ENTER), *path))
    elif d.how == "definition":
        origin = imported_variable(frame.function.module, d.name, d.site or d.node.what)
        if origin is not None:
            body, name = origin
            for each in reaching(body).everywhere(name):
                yield from defined(objects, each, Frame(body, {}, frame.depth + 1), depth + 1, path)
    elif d.how == "mutate" and d.value is not None and path:
        yield from objects.of(d.value, frame, depth + 1, path[1:])


def _parameter(objects: Objects, name: str, frame: Frame, depth: int, path: Path) -> Iterator[Instance]:
    annotated = list(_annotated(name, frame)) if not path else []
    if frame.given is not None:
        given = frame.given.get(name)
        if given is not None:
            # Where nobody can say what is handed over, it is what the function says that it takes.
            known = objects.of(given.value, given.frame, depth + 1, (*given.path, *path))
            yield from known or annotated
        return
    if annotated:
        yield from annotated
        return
    hooked = hook_parameter(frame.function, name)
    if isinstance(hooked, str) and not path:
        yield Instance(hooked, None, frame)
        return
    for site, bound in objects.callers(frame.function):
        outer = Frame(site.function, None, frame.depth + 1)
        if not outer.too_deep:
            given = (called(frame.function, site.call, outer, bound).given or {}).get(name)
            if given is not None:
                yield from objects.of(given.value, given.frame, depth + 1, (*given.path, *path))


def _annotated(name: str, frame: Frame) -> Iterator[Instance]:
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
