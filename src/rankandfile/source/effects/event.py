"""The collective that a call issues, or a property that is read: named in the code, or implied by what is called.

In: an expression and the function that it stands in. Out: what it does to the other ranks, by the registry; None for
what issues nothing, and for all of which nothing is known.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

from rankandfile.source.dependence.frame import Frame
from rankandfile.source.dependence.index import Index, index_of
from rankandfile.source.dependence.objects import Objects
from rankandfile.source.dependence.reaching_assignments import reaching
from rankandfile.source.dependence.syntax import argument, constant, dotted
from rankandfile.source.program.kept import kept
from rankandfile.source.program.modules import Function, Program
from rankandfile.source.program.names import External, resolve
from rankandfile.source.registry.tables import TABLE, UNMISTAKABLE, canonical

_MOST_STEPS = 60
_ALLOWANCE = 600
"""Expressions that may be looked at to tell what one is an object of: a whole program asks often."""
_IN_PLACE = {"fully_shard": "torch.distributed.fsdp.fully_shard"}
"""Wrappers that are mostly called for what they do to their argument."""
_AUTOGRAD = "torch.autograd.backward"
FORWARD, BACKWARD = "forward", "backward"


class Event(Struct, frozen=True):
    """One collective where it stands in the code."""

    name: str
    """As the registry knows it: `torch.distributed.all_reduce`; `CLASS.forward` for a call of a wrapped module."""
    words: str
    site: ast.expr
    function: Function
    group: ast.expr | None = None
    """None: all ranks of the job."""
    sure: bool = True
    """False for what is a collective under some settings only."""

    @property
    def op(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def line(self) -> int:
        func = self.site.func if isinstance(self.site, ast.Call) else self.site
        return func.end_lineno or self.site.lineno


def event(e: ast.expr, function: Function) -> Event | None:
    """The collective that a call, or a property that is read, issues where it stands."""
    objects = objects_of(function.module.program)
    frame = Frame(function)
    called = e.func if isinstance(e, ast.Call) else e
    target = resolve(function, called)
    if isinstance(target, External):
        name = canonical(target.dotted)
        if name in TABLE.collectives:
            return _event(name, TABLE.collectives[name], e, function)
        return _backward(e, function, objects) if name == _AUTOGRAD else None
    if isinstance(called, ast.Attribute):
        for owner in objects.externals(called.value, frame):
            name = canonical(f"{owner}.{called.attr}")
            if name in TABLE.collectives:
                return _event(name, TABLE.collectives[name], e, function)
    if not isinstance(e, ast.Call):
        return None
    if isinstance(called, ast.Attribute) and target is None:
        only = UNMISTAKABLE.get(called.attr)
        if only is not None and called.attr not in objects.index.defined:
            return _event(only, TABLE.collectives[only], e, function)
    if isinstance(called, ast.Attribute) and called.attr == "backward" and target is None:
        return _backward(e, function, objects)
    wrapper = next(_wrappers(called, frame, objects), None)
    if wrapper is None:
        return None
    return Event(f"{wrapper}.{FORWARD}", TABLE.forward[wrapper], e, function)


def objects_of(program: Program) -> Objects:
    """What expressions of the program can be objects of, with a new allowance."""
    found = _objects(program)
    found.left = _ALLOWANCE
    return found


@kept
def _objects(program: Program) -> Objects:
    return Objects(index_of(program))


def _event(name: str, words: str, e: ast.expr, function: Function) -> Event:
    call = e if isinstance(e, ast.Call) else None
    places = (
        (TABLE.group_at[name], "group", "device_mesh")
        if name in TABLE.group_at
        else ("group", "process_group")
    )
    group = argument(call, *places) if call is not None else None
    if isinstance(group, ast.Constant) and group.value is None:
        group = None
    sync = constant(argument(call, "sync_dist")) if call is not None else None
    return Event(name, words, e, function, group, name not in TABLE.perhaps or sync is True)


def _wrappers(e: ast.expr, frame: Frame, objects: Objects) -> Iterator[str]:
    """What an object was wrapped in, if anything."""
    if not wrappers_used(objects.index):
        return
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


def _backward(e: ast.expr, function: Function, objects: Objects) -> Event | None:
    """Whose gradients: of the wrapped module that the loss was computed with; else of the only one there is."""
    receiver = e.func.value if isinstance(e, ast.Call) and isinstance(e.func, ast.Attribute) else e
    frame = Frame(function)
    used = wrappers_used(objects.index) & TABLE.backward.keys()
    if not used:
        return None
    for call in _calls_behind(receiver, function):
        for wrapper in _wrappers(call.func, frame, objects):
            if wrapper in TABLE.backward:
                return Event(f"{wrapper}.{BACKWARD}", TABLE.backward[wrapper], e, function)
    if len({TABLE.backward[wrapper] for wrapper in used}) > 1:
        return None
    wrapper = min(used)
    # Whether this loss is that of the wrapped module, nobody knows: it is no more than a guess.
    return Event(f"{wrapper}.{BACKWARD}", TABLE.backward[wrapper], e, function, sure=False)


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


@kept
def wrappers_used(index: Index) -> set[str]:
    """The wrappers that the program calls anywhere."""
    found = set()
    for name, wrapper in TABLE.wraps.items():
        for site in index.calls(name.rsplit(".", 1)[-1]) if wrapper else ():
            target = resolve(site.function, site.call.func)
            known = canonical(target.dotted) if isinstance(target, External) else ""
            if known == name or _of_object(site.call.func, name):
                found.add(wrapper)
    return found


def _of_object(func: ast.expr, name: str) -> bool:
    """`accelerator.prepare(...)`: a method of an object cannot be told by its dotted name."""
    owner = name.rsplit(".", 2)[-2]
    return owner[:1].isupper() and isinstance(func, ast.Attribute) and func.attr == name.rpartition(".")[2]
