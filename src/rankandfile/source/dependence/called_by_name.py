"""Methods that are called by a name that is worked out: `getattr(hook, event)(state)`.

In: a call, its function, and all calls of the program by name. Out: the calls that it may be, as if they were written
out: `hook.on_start(state)`, `hook.on_end(state)`. The names are those that stand there, or that the callers hand over.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from itertools import product

from rankandfile.source.program.modules import Function

from .syntax import argument

_MOST_NAMES = 16

Callers = Callable[[str], list[ast.Call]]
"""The calls of the program by the last part of the name of what is called."""


def calls_by_name(
    function: Function, call: ast.Call, own: list[ast.Assign], callers: Callers
) -> list[ast.Call]:
    """`own`: assignments of the function, for `run = getattr(hook, event); run(state)`. Nothing for any other call."""
    looked_up = call.func
    if isinstance(looked_up, ast.Name):
        values = [s.value for s in own if any(_is(target, looked_up.id) for target in s.targets)]
        looked_up = values[0] if len(values) == 1 else looked_up
    if not (isinstance(looked_up, ast.Call) and _is(looked_up.func, "getattr") and len(looked_up.args) > 1):
        return []
    names = sorted({name for name in _words(function, looked_up.args[1], callers) if name.isidentifier()})
    if len(names) > _MOST_NAMES:
        return []
    targets = [ast.copy_location(ast.Attribute(looked_up.args[0], name, ast.Load()), call) for name in names]
    return [ast.copy_location(ast.Call(target, call.args, call.keywords), call) for target in targets]


def _is(e: ast.AST, name: str) -> bool:
    return isinstance(e, ast.Name) and e.id == name


def _words(function: Function, e: ast.expr, callers: Callers) -> Iterator[str]:
    """The words that the expression may be; none where that is not to be seen."""
    if isinstance(e, ast.JoinedStr):
        parts = [list(_words(function, part, callers)) for part in e.values]
        yield from ("".join(words) for words in product(*parts))
    elif isinstance(e, ast.FormattedValue):
        yield from _words(function, e.value, callers)
    elif isinstance(e, ast.Constant) and isinstance(e.value, str):
        yield e.value
    elif isinstance(e, ast.Name) and e.id in function.parameters:
        at = function.parameters.index(e.id) - (function.owner is not None)
        for call in callers(function.name):
            given = argument(call, at, e.id)
            if isinstance(given, ast.Constant) and isinstance(given.value, str):
                yield given.value
