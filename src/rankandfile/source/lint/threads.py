"""Threads that a program starts, and what ends them: an exception that nobody catches."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.source.dependence.frame import Frame
from rankandfile.source.dependence.index import Site, function_of
from rankandfile.source.effects.event import objects_of
from rankandfile.source.effects.wrapped import last_name
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class, External, enclosing_class, external_bases, resolve

from .rule import View

POOL = "ThreadPoolExecutor"
_THREADS = ("threading.Thread", "threading.Timer")
_CALM = (
    "debug",
    "info",
    "warning",
    "error",
    "exception",
    "print",
    "len",
    "isinstance",
    "monotonic",
    "time",
    "sleep",
)


def starts(view: View, function: Function) -> Iterator[Site]:
    """Where a thread is begun that runs the function."""
    for site, given in view.effects.index.handed_over.get(function.name, ()):
        if _in_a_thread(view, site) and function_of(site.function, given) is function:
            yield site
    own = enclosing_class(function) if function.name == "run" else None
    if own is not None and external_bases(own) & {*_THREADS}:
        yield from view.effects.index.made(Class(own.module, own.node))


def _in_a_thread(view: View, site: Site) -> bool:
    func = site.call.func
    target = resolve(site.function, func)
    if isinstance(target, External):
        return target.dotted in _THREADS
    if not isinstance(func, ast.Attribute) or func.attr != "submit":
        return False
    owners = objects_of(view.program).externals(func.value, Frame(site.function))
    return any(owner.endswith(f".{POOL}") for owner in owners)


def catches_all(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or last_name(handler.type) in ("Exception", "BaseException")


def calm(call: ast.Call) -> bool:
    """It logs, measures or sleeps: nobody expects it to raise."""
    return last_name(call.func) in _CALM
