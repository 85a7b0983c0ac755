"""A counter: how often a method adds to it depends on what decides whether the method is called at all.

In: a function that counts something in an attribute. Out: what, at its callers and at theirs, lets one rank come to it
and not another. A property's setter is called by every assignment to the property. Objects of libraries count as well:
their attribute tells how often this rank called one of their methods, or whether it did at all.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from rankandfile.source.flow import Condition
from rankandfile.source.flow.deciding import own_ends
from rankandfile.source.flow.graph import Node
from rankandfile.source.flow.how_often import between_nodes
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class

from . import control
from .frame import Frame
from .index import Site
from .objects.called_later import called_later
from .reaching_assignments import reaching
from .syntax import dotted, text
from .value import UNKNOWN, Link, Value, join

if TYPE_CHECKING:
    from .evaluate import Evaluator

_FURTHEST = 3
_MOST_PLACES = 32
_ITSELF = 2
"""Steps of a test of the rank itself."""
_OF_LISTS = ("append", "extend")
"""A list has these, too: whatever nothing is known of may be one."""
NO_CHOICE = ("for", "while", "comprehension", "call")


def on_the_way(
    ev: Evaluator, frame: Frame, seen: frozenset[Function] = frozenset(), *, loops: bool = False
) -> Iterator[tuple[Condition, Frame]]:
    """The decisions that lead to a call of the frame's function, the nearest callers first. `loops`: how often they
    go round, too."""
    if len(seen) >= _FURTHEST or frame.too_deep or frame.function in seen:
        return
    further: dict[Function, Frame] = {}
    for caller, nodes in islice(_places(ev, frame.function), _MOST_PLACES):
        outer = further.setdefault(caller, Frame(caller, None, frame.depth + 1))
        graph = reaching(caller).graph
        for condition in between_nodes(
            caller, nodes, own_ends(caller, ev.index.tried(caller)), [graph.entry]
        ):
            if condition.kind not in NO_CHOICE or (loops and condition.kind == "for"):
                yield condition, outer
    for outer in further.values():
        yield from on_the_way(ev, outer, seen | {frame.function}, loops=loops)


def _places(ev: Evaluator, function: Function) -> Iterator[tuple[Function, set[Node]]]:
    """Who calls the function, and at which steps."""
    for site, _bound in ev.objects.callers(function):
        yield site.function, set(reaching(site.function).nodes(site.node))
    for site in called_later(ev.objects, function):
        yield site.function, set(reaching(site.function).nodes(site.node))
    if function.owner is not None and not function.name.startswith("__"):
        # A method runs only where there is an object for it: a framework may call it, which no line shows.
        for site in ev.index.made(Class(function.module, function.owner)):
            yield site.function, set(reaching(site.function).nodes(site.node))
    if function.owner is not None and _sets(function):
        for setter, definition in ev.objects.stores(Class(function.module, function.owner), function.name):
            yield setter, {definition.node}


def _sets(function: Function) -> bool:
    node = function.node
    if isinstance(node, (ast.Module, ast.Lambda)):
        return False
    return any((dotted(d) or "").endswith(".setter") for d in node.decorator_list)


def how_often(ev: Evaluator, e: ast.Attribute, kind: str, methods: tuple[str, ...]) -> Value:
    """What an object of a library counts: by all that decides whether one of these methods is called, on whatever may
    be such an object, or of a class that derives from it."""
    found: list[Value] = []
    for site in _told(ev, kind, methods):
        found.extend(which_one(ev, site, text(e)))
        file = site.function.module.path
        for condition, outer in _upon(ev, site):
            value = control.of_condition(ev, condition, outer)
            # Further away from the rank's number it is what the rank has met that is counted.
            value = value if len(value.chain) <= _ITSELF else value.of_data()
            where = outer.function.module.path
            words = (
                f"is counted on at {file}:{site.call.lineno} or not, as `{condition.text}` decides "
                f"({where}:{condition.line})"
            )
            kind = control.upon_kind(condition)
            link = Link(where, condition.line, text(e), words, condition.text, kind=kind)
            found.append(value.by(link) if value.differs else value)
    return join(found) if found else UNKNOWN


def only_choice(ev: Evaluator, kind: str, methods: tuple[str, ...]) -> tuple[Function, Condition] | None:
    """The one test that decides whether any of these methods is called, but for what is equal on all ranks."""
    found = {
        condition.node: (outer.function, condition)
        for site in _told(ev, kind, methods)
        for condition, outer in _upon(ev, site)
        if control.of_condition(ev, condition, outer).level != "uniform"
    }
    return next(iter(found.values())) if len(found) == 1 else None


def _told(ev: Evaluator, kind: str, methods: tuple[str, ...]) -> Iterator[Site]:
    """Where one of the methods is called on what may be such an object."""
    for name in methods:
        for site in islice(ev.index.calls(name), _MOST_PLACES):
            called, frame = site.call.func, Frame(site.function)
            if not isinstance(called, ast.Attribute):
                continue
            known = name in _OF_LISTS or any(ev.objects.classes(called.value, frame))
            if not known or kind in ev.objects.externals(called.value, frame):
                yield site


def _upon(ev: Evaluator, site: Site) -> Iterator[tuple[Condition, Frame]]:
    """The decisions that lead to the call, its function's own first."""
    frame, graph = Frame(site.function), reaching(site.function).graph
    inside = between_nodes(
        site.function,
        set(reaching(site.function).nodes(site.node)),
        own_ends(site.function, ev.index.tried(site.function)),
        [graph.entry],
    )
    chosen = [(c, frame) for c in inside if c.kind not in NO_CHOICE]
    yield from islice((*chosen, *on_the_way(ev, frame)), _MOST_PLACES)


def which_one(ev: Evaluator, site: Site, name: str) -> Iterator[Value]:
    """Of a call of a method: how the keys differ by which the object was chosen. `name`: what is counted there."""
    frame, file = Frame(site.function), site.function.module.path
    receiver = site.call.func.value if isinstance(site.call.func, ast.Attribute) else None
    for key in _chosen_by(receiver, site.function):
        value = ev.value(key, frame)
        shown = text(key, 60)
        words = f"is counted on at {file}:{site.call.lineno} for the item that `{shown}` chooses"
        yield value.by(Link(file, site.call.lineno, name, words, shown)) if value.differs else value


def _chosen_by(receiver: ast.expr | None, function: Function) -> Iterator[ast.expr]:
    """The keys by which one of several objects is taken: `self.by_name[name]`, or a name that was set to such."""
    if isinstance(receiver, ast.Name):
        for d in reaching(function).everywhere(receiver.id):
            if d.how == "assign" and d.value is not None and not isinstance(d.value, ast.Name):
                yield from _chosen_by(d.value, function)
    elif isinstance(receiver, ast.Subscript) and not isinstance(receiver.slice, (ast.Slice, ast.Constant)):
        yield receiver.slice
    elif isinstance(receiver, ast.Call) and receiver.args and isinstance(receiver.func, ast.Attribute):
        yield from receiver.args[:1] if receiver.func.attr in ("get", "setdefault", "__getitem__") else ()
