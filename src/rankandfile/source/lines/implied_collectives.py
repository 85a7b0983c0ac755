"""Collectives that a line does not name: `loss.backward()`, a sharded forward, a property that broadcasts."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from weakref import WeakKeyDictionary

from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence.frame import Frame
from rankandfile.source.dependence.index import Index, index_of
from rankandfile.source.dependence.objects import Objects
from rankandfile.source.dependence.reaching_assignments import reaching
from rankandfile.source.dependence.syntax import dotted
from rankandfile.source.program.modules import Function, Program
from rankandfile.source.program.names import External, resolve
from rankandfile.source.registry.tables import TABLE, canonical

_MOST_STEPS = 60
_IN_PLACE = {"fully_shard": "torch.distributed.fsdp.fully_shard"}
"""Wrappers that are mostly called for what they do to their argument."""

_OBJECTS: WeakKeyDictionary[Program, Objects] = WeakKeyDictionary()


@heuristic("implied collectives", "a backward pass or a sharded forward is named for the collective in it")
def implicit(call: ast.expr | None, function: Function | None, frames: Sequence[str] = ()) -> str | None:
    """The collective that a call implies, in words ("DDP reduces gradients here"); None if none is known.

    `call` (or a property that is read) stands in `function`; `frames` are the names of the framework's functions below
    it in a stack, outermost first, where a stack was seen. Either is enough.
    """
    for name in frames:
        words = TABLE.internals.get(name)
        if words is not None:
            return words
    if call is None or function is None:
        return None
    try:
        return _of_expression(call, function)
    except RecursionError:
        return None


def _of_expression(e: ast.expr, function: Function) -> str | None:
    objects = _objects(function.module.program)
    frame = Frame(function)
    called = e.func if isinstance(e, ast.Call) else e
    target = resolve(function, called)
    if isinstance(target, External):
        name = canonical(target.dotted)
        return TABLE.collectives.get(name) or (_backward(e, function, objects) if name == _AUTOGRAD else None)
    if isinstance(called, ast.Attribute):
        for owner in objects.externals(called.value, frame):
            words = TABLE.collectives.get(canonical(f"{owner}.{called.attr}"))
            if words is not None:
                return words
    if not isinstance(e, ast.Call):
        return None
    if isinstance(called, ast.Attribute) and called.attr == "backward" and target is None:
        return _backward(e, function, objects)
    wrapper = next(_wrappers(called, frame, objects), None)
    return TABLE.forward.get(wrapper) if wrapper is not None else None


_AUTOGRAD = "torch.autograd.backward"


def _objects(program: Program) -> Objects:
    found = _OBJECTS.get(program)
    if found is None:
        found = _OBJECTS[program] = Objects(index_of(program))
    return found


def _wrappers(e: ast.expr, frame: Frame, objects: Objects) -> Iterator[str]:
    """What an object was wrapped in, if anything."""
    for owner in objects.externals(e, frame):
        if owner in TABLE.forward:
            yield owner
    classes = set(objects.classes(e, frame))
    for name, wrapper in _IN_PLACE.items():
        for site in objects.index.calls(name):
            resolved = resolve(site.function, site.call.func)
            inside = (
                isinstance(resolved, External) and canonical(resolved.dotted) == wrapper and site.call.args
            )
            if inside and classes & set(objects.classes(site.call.args[0], Frame(site.function))):
                yield wrapper


def _backward(e: ast.expr, function: Function, objects: Objects) -> str | None:
    """Whose gradients: of the wrapped module that the loss was computed with; else of the only one there is."""
    receiver = e.func.value if isinstance(e, ast.Call) and isinstance(e.func, ast.Attribute) else e
    frame = Frame(function)
    for call in _calls_behind(receiver, function):
        for wrapper in _wrappers(call.func, frame, objects):
            if wrapper in TABLE.backward:
                return TABLE.backward[wrapper]
    words = {TABLE.backward[wrapper] for wrapper in _used(objects.index) if wrapper in TABLE.backward}
    return words.pop() if len(words) == 1 else None


def _calls_behind(e: ast.expr, function: Function) -> Iterator[ast.Call]:
    """The calls that a value was computed with, in the function, nearest first."""
    flow = reaching(function)
    queue: list[ast.expr] = [e]
    seen: set[str] = set()
    steps = 0
    while queue and (steps := steps + 1) < _MOST_STEPS:
        for node in ast.walk(queue.pop(0)):
            if isinstance(node, ast.Call):
                yield node
            name = dotted(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
            if name is not None and name not in seen:
                seen.add(name)
                queue.extend(d.value for d in flow.everywhere(name) if d.value is not None)


def _used(index: Index) -> set[str]:
    """The wrappers that the program calls anywhere."""
    found: set[str] = set()
    for name, wrapper in TABLE.wraps.items():
        for site in index.calls(name.rsplit(".", 1)[-1]) if wrapper else ():
            target = resolve(site.function, site.call.func)
            if isinstance(target, External) and canonical(target.dotted) == name:
                found.add(wrapper)
    return found
