"""What of the things that a coroutine awaits ends by itself: a pause, and what is given a limit."""

from __future__ import annotations

import ast

from rankandfile.source.dependence.frame import Frame
from rankandfile.source.dependence.objects import Objects
from rankandfile.source.dependence.syntax import ancestors, argument, constant
from rankandfile.source.program.called import called_name
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import External, resolve
from rankandfile.source.registry.tables import canonical

_PAUSES = {"asyncio.sleep", "anyio.sleep", "anyio.sleep_until", "trio.sleep", "trio.sleep_until"}
_AT_ONCE = {
    "asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell", "asyncio.start_server",
    "asyncio.start_unix_server", "aiohttp.ClientSession", "httpx.AsyncClient",
}  # fmt: skip
"""They only make something."""
_LIMITS = {
    "asyncio.timeout", "asyncio.timeout_at", "async_timeout.timeout", "async_timeout.timeout_at",
    "anyio.fail_after", "anyio.move_on_after",
    "trio.fail_after", "trio.fail_at", "trio.move_on_after", "trio.move_on_at",
}  # fmt: skip
"""Context managers that end what is awaited in their block."""
_QUEUES = {"asyncio.Queue.put", "asyncio.LifoQueue.put", "asyncio.PriorityQueue.put"}
_MOST = 8


def outside(objects: Objects, function: Function, called: ast.expr) -> list[str]:
    """The dotted names of what is called, where that is somebody else's."""
    target = resolve(function, called)
    if isinstance(target, External):
        return [canonical(target.dotted)]
    if target is not None or not isinstance(called, ast.Attribute):
        return []
    owners = objects.externals(called.value, Frame(function))[:_MOST]
    return [canonical(f"{owner}.{called.attr}") for owner in owners]


def ends_by_itself(objects: Objects, function: Function, call: ast.Call) -> bool:
    """Whether awaiting this call of somebody else's code ends, whatever others do."""
    names = set(outside(objects, function, call.func))
    if names & (_PAUSES | _AT_ONCE) or (names & _QUEUES and _unbounded(objects, function, call)):
        return True
    place = 1 if called_name(call) == "wait_for" else "timeout"
    return _given(argument(call, place, "timeout"))


def limited(objects: Objects, function: Function, node: ast.AST) -> bool:
    """Whether the node stands in a block that a time limit ends."""
    for outer in ancestors(function.module, node):
        if outer is function.node:
            return False
        if isinstance(outer, (ast.With, ast.AsyncWith)):
            for item in outer.items:
                if sets_limit(objects, function, item.context_expr) and not _in(node, item.context_expr):
                    return True
    return False


def sets_limit(objects: Objects, function: Function, context: ast.expr) -> bool:
    if not isinstance(context, ast.Call) or not set(outside(objects, function, context.func)) & _LIMITS:
        return False
    return any(_given(value) for value in (*context.args, *(k.value for k in context.keywords)))


def _given(limit: ast.expr | None) -> bool:
    return limit is not None and not (isinstance(limit, ast.Constant) and limit.value is None)


def _in(node: ast.AST, outer: ast.AST) -> bool:
    return any(each is node for each in ast.walk(outer))


def _unbounded(objects: Objects, function: Function, call: ast.Call) -> bool:
    """A queue without a size takes whatever is put into it."""
    if not isinstance(call.func, ast.Attribute):
        return False
    queues = objects.of(call.func.value, Frame(function))
    sizes = [argument(each.made, 0, "maxsize") if each.made is not None else call for each in queues]
    return bool(sizes) and all(size is None or constant(size) == 0 for size in sizes)
