"""What a name can be an object of: by its assignments, by what calls hand to a parameter, or by its annotation."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rankandfile.source.dependence.assignments import Definition
from rankandfile.source.dependence.frame import Frame, Instance, called
from rankandfile.source.dependence.reaching_assignments import reaching, storers
from rankandfile.source.dependence.syntax import ENTER, Path, loop_of
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class, imported_variable
from rankandfile.source.program.scopes import binding_scope

from .annotations import annotated_as
from .frameworks_own import given_by_framework
from .tables import iterated

if TYPE_CHECKING:
    from .of_expressions import Objects


def named(objects: Objects, e: ast.Name, frame: Frame, depth: int, path: Path) -> Iterator[Instance]:
    """By whatever the name is ever given in the scope that owns it."""
    loop = loop_of(frame.function.module, e)
    if loop is not None:
        yield from objects.of(loop[0], frame, depth + 1, (*loop[1], *path))
        return
    scope = binding_scope(frame.function, e.id)
    if scope is None:
        return
    if e.id == "self" and scope.owner is not None and path:
        yield from iterated(objects, Class(scope.module, scope.owner), frame, depth, path)
        return
    if e.id == "self" and scope.owner is not None:
        yield Instance(Class(scope.module, scope.owner), None, frame)
        return
    yield from variable(objects, scope, e.id, frame, depth, path)


def variable(
    objects: Objects, scope: Function, name: str, frame: Frame, depth: int, path: Path
) -> Iterator[Instance]:
    """What a variable of the scope is ever given there, or by functions that declare it theirs, or that change what it
    holds."""
    for function in storers(scope, name):
        inside = frame
        if function is not frame.function:
            inside = Frame(function, {} if isinstance(function.node, ast.Module) else None, frame.depth + 1)
        for definition in reaching(function).everywhere(name):
            yield from defined(objects, definition, inside, depth, path)


def defined(objects: Objects, d: Definition, frame: Frame, depth: int, path: Path) -> Iterator[Instance]:
    """What one definition gives its name."""
    if d.how == "parameter":
        yield from _parameter(objects, d.name, frame, depth, path)
    elif d.how == "assign" and d.value is not None:
        # Mostly a context manager gives its block itself; one that is written as a generator, what it yields.
        if ENTER in d.path:
            yield from objects.of(d.value, frame, depth + 1, (*d.path, *path))
        whole = (*(p for p in d.path if p != ENTER), *path)
        known = objects.of(d.value, frame, depth + 1, whole)
        said = d.site.annotation if isinstance(d.site, ast.AnnAssign) and not d.path else None
        yield from known or annotated_as(said, frame.function, frame, path)
    elif d.how == "definition":
        origin = imported_variable(frame.function.module, d.name, d.site or d.node.what)
        if origin is not None:
            yield from variable(objects, *origin, frame, depth + 1, path)
    elif d.how == "mutate" and d.value is not None and path:
        yield from objects.of(d.value, frame, depth + 1, path[1:])


def _parameter(objects: Objects, name: str, frame: Frame, depth: int, path: Path) -> Iterator[Instance]:
    annotated = list(annotated_as(_annotation(name, frame.function), frame.function, frame, path))
    if frame.given is not None:
        given = frame.given.get(name)
        if given is not None:
            # Where nobody can say what is handed over, it is what the function says that it takes.
            known = objects.of(given.value, given.frame, depth + 1, (*given.path, *path))
            yield from known or annotated
        return
    if not path:
        yield from annotated
        if any(isinstance(each.type, Class) for each in annotated):
            return
    hooked = given_by_framework(objects, frame.function, name)
    if isinstance(hooked, str) and not path:
        yield Instance(hooked, None, frame)
        return
    found = False
    later = ((each.site, each.bound) for each in objects.later(frame.function))
    for site, bound in (*objects.callers(frame.function), *later):
        outer = Frame(site.function, None, frame.depth + 1)
        if not outer.too_deep:
            given = (called(frame.function, site.call, outer, bound).given or {}).get(name)
            for each in (
                objects.of(given.value, given.frame, depth + 1, (*given.path, *path)) if given else ()
            ):
                found = True
                yield each
    if path and not found:
        yield from annotated


def _annotation(name: str, function: Function) -> ast.expr | None:
    node = function.node
    if isinstance(node, (ast.Module, ast.Lambda)):
        return None
    every = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    return next((each.annotation for each in every if each.arg == name), None)
