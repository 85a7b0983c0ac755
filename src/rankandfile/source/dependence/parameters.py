"""What a parameter holds: by the call that is known, or by every call in the program."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class, enclosing_class
from rankandfile.source.registry.entry import Source

from . import origins
from .frame import Frame, called
from .objects.called_later import Later
from .objects.frameworks_own import given_by_framework, outside
from .objects.instances import of_itself
from .objects.own_processes import started_with
from .syntax import Path, text, word
from .value import UNIFORM, UNKNOWN, Link, Value, join

if TYPE_CHECKING:
    from .evaluate import Evaluator


def parameter(ev: Evaluator, name: str, frame: Frame, path: Path) -> Value:
    """What a parameter holds: by the call that is known, or by every call in the program."""
    if frame.given is not None:
        given = frame.given.get(name)
        if given is not None:
            return ev.value(given.value, given.frame, (*given.path, *path))
        return default(ev, name, frame, path)
    if name in ("self", "cls"):
        cls = enclosing_class(frame.function) if path and name == "self" else None
        return UNIFORM if cls is None else of_itself(ev, cls, frame, path)
    if _handed_over_by_autograd(frame.function, name):
        return origins.gradient_handed_over(name, frame)
    found: list[Value] = []
    for site, bound in ev.objects.callers(frame.function):
        outer = Frame(site.function, None, frame.depth + 1)
        inside = called(frame.function, site.call, outer, bound)
        if outer.too_deep:
            return UNKNOWN
        given = (inside.given or {}).get(name)
        if given is None:
            found.append(default(ev, name, frame, path))
            continue
        file, code = site.function.module.path, text(given.value, 60)
        value = ev.value(given.value, given.frame, (*given.path, *path))
        if code == name:
            found.append(value)
        else:
            # A call over several lines has each argument on one of its own.
            line = given.value.lineno if given.frame.function is site.function else site.call.lineno
            found.append(value.by(Link(file, line, name, f"is passed as `{code}` ({file}:{line})", code)))
    found += _as_listener(ev, name, frame, path)
    found += _in_own_process(ev, name, frame, path)
    if found:
        return join(found)
    hooked = given_by_framework(ev.objects, frame.function, name)
    if isinstance(hooked, Source):
        return origins.from_table(hooked, ast.copy_location(ast.Name(name), frame.function.node), frame)
    return UNKNOWN


def _as_listener(ev: Evaluator, name: str, frame: Frame, path: Path) -> list[Value]:
    """What it is given where it is called as something that was handed over: by whoever calls what it was kept for."""
    if isinstance(frame.function.node, (ast.Module, ast.Lambda)):
        return []
    found: list[Value] = []
    for later in ev.objects.later(frame.function):
        for outer in _emitters(ev, later, frame):
            if outer.too_deep:
                return [UNKNOWN]
            inside = called(frame.function, later.site.call, outer, later.bound)
            given = (inside.given or {}).get(name)
            if given is not None:
                found.append(ev.value(given.value, given.frame, (*given.path, *path)))
    return found


def _in_own_process(ev: Evaluator, name: str, frame: Frame, path: Path) -> list[Value]:
    """What it is given in processes that the program starts: of each the number is the rank's own."""
    found: list[Value] = []
    for site, given in started_with(ev.index, frame.function, name):
        if given is None:
            found.append(origins.here("rank_api", "what gives each process its number", site.call, frame))
            continue
        outer = Frame(site.function, None, frame.depth + 1)
        found.append(UNKNOWN if outer.too_deep else ev.value(given, outer, path))
    return found


def _emitters(ev: Evaluator, later: Later, frame: Frame) -> Iterator[Frame]:
    """The function that calls it, from each place that asks for what it was kept under."""
    emitter = later.site.function
    sites = ev.objects.callers(emitter)
    if not sites or not later.asked:
        yield Frame(emitter, None, frame.depth + 1)
        return
    for site, bound in sites:
        outer = called(emitter, site.call, Frame(site.function, None, frame.depth + 1), bound)
        asked = (outer.given or {}).get(later.asked)
        key = word(asked.value) if asked is not None else None
        if key is None or later.key is None or key == later.key:
            yield outer


def _handed_over_by_autograd(function: Function, name: str) -> bool:
    """A gradient: an argument of `backward`, after the context, in a function of autograd."""
    owner = function.owner
    return (
        function.name == "backward"
        and owner is not None
        and name in function.parameters[1:]
        and "torch.autograd.Function" in outside(Class(function.module, owner))
    )


def default(ev: Evaluator, name: str, frame: Frame, path: Path) -> Value:
    value, outer = frame.function.defaults.get(name), frame.function.parent
    if value is None or outer is None:
        return UNKNOWN
    return ev.value(value, Frame(outer, None, frame.depth + 1), path)
