"""Threads that a program starts, and what ends them: an exception that nobody catches."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.source.dependence.frame import Frame
from rankandfile.source.dependence.index import Site, function_of
from rankandfile.source.dependence.syntax import dotted
from rankandfile.source.effects.event import objects_of
from rankandfile.source.effects.wrapped import last_name
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class, External, enclosing_class, external_bases, resolve
from rankandfile.source.program.scopes import own_nodes

from .rule import View

POOL = "ThreadPoolExecutor"
_THREADS = ("threading.Thread", "threading.Timer")
_ALL = ("Exception", "BaseException")
_LOGS = ("debug", "info", "warning", "warn", "error", "exception", "critical", "print", "print_exc")
_CALM = (
    *_LOGS,
    "len",
    "range",
    "enumerate",
    "is_set",
    "append",
    "isinstance",
    "monotonic",
    "perf_counter",
    "process_time",
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


def in_a_thread(view: View, function: Function) -> bool:
    """A thread runs it, or a function of its file that calls it."""
    callers = (f for f in function.module.functions if f is not function and function in called_here(f))
    return any(next(starts(view, each), None) is not None for each in (function, *callers))


def called_here(function: Function) -> list[Function]:
    """Functions of the same file, and methods of the same object, that it calls."""
    called = {dotted(node.func) for node in own_nodes(function) if isinstance(node, ast.Call)}
    return [f for f in function.module.functions if called & {f.name, f"self.{f.name}"}]


def goes_on(handler: ast.ExceptHandler) -> bool:
    """It does not raise again."""
    return not any(isinstance(node, ast.Raise) for node in ast.walk(handler))


def catches_all(handler: ast.ExceptHandler) -> bool:
    """Every exception there is, and goes on."""
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return goes_on(handler) and any(c is None or last_name(c) in _ALL for c in caught)


def suppresses_all(around: ast.AST) -> bool:
    """`with suppress(Exception):`."""
    return isinstance(around, (ast.With, ast.AsyncWith)) and any(
        isinstance(made := item.context_expr, ast.Call)
        and last_name(made.func) == "suppress"
        and any(last_name(given) in _ALL for given in made.args)
        for item in around.items
    )


def calm(call: ast.Call) -> bool:
    """It logs, measures or sleeps: nobody expects it to raise."""
    return last_name(call.func) in _CALM


def ends_the_process(view: View) -> bool:
    """What no thread has caught ends the process: nobody waits for a thread that is gone."""
    texts = [module.text for module in view.effects.index.modules if "threading.excepthook" in module.text]
    return any(word in text for text in texts for word in ("_exit", "abort(", "kill(", "interrupt_main"))
