"""Where a coroutine can wait without a limit, through all that it awaits in turn.

In: a coroutine, as it is handed to the event loop. Out: chains of awaits, from its own to one of what is not the
program's (a lock, a queue, a stream, a thread), or to a loop of pauses that nothing in it ends. What is started beside
it, and never awaited, cannot keep it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from msgspec import Struct

from rankandfile.source.dependence.frame import Frame
from rankandfile.source.dependence.index import Site
from rankandfile.source.dependence.objects.called_later import targets_of
from rankandfile.source.dependence.syntax import ancestors, dotted
from rankandfile.source.effects.handed import IN_A_THREAD
from rankandfile.source.lines.found_line import Search
from rankandfile.source.lines.held_line import ends_itself
from rankandfile.source.program.called import called_name
from rankandfile.source.program.methods import methods_named
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class, External, method, resolve
from rankandfile.source.program.scopes import own_nodes, returned_values

from .awaited import awaited
from .limits import ends_by_itself, limited, outside, sets_limit

_MOST_BODIES, _DEEPEST = 400, 30
_GROUPS = {"asyncio.TaskGroup", "anyio.create_task_group", "trio.open_nursery"}
_STARTS = {"start_soon", "start"}
"""Methods of a group of tasks that take the function itself."""
_LOCKS = {
    f"{package}.{kind}"
    for package in ("asyncio", "anyio", "trio")
    for kind in ("Lock", "Semaphore", "BoundedSemaphore", "Condition", "CapacityLimiter", "StrictFIFOLock")
}
_OF_LIBRARIES = {
    "acquire", "wait", "get", "put", "join", "read", "readline", "readexactly", "readuntil", "drain", "recv",
    "receive", "send", "communicate", "connect", "close", "wait_closed", "result", "start", "stop", "run",
}  # fmt: skip
"""Names that methods of anybody's objects have: they tell no class of the program."""
_PLAIN = {"staticmethod", "classmethod", "asynccontextmanager", "property", "override", "abstractmethod"}
"""Decorators that change nothing of what a coroutine awaits."""


class Step(Struct, frozen=True, eq=False):
    """One place at which a function waits."""

    function: Function
    node: ast.expr | ast.While
    word: str
    """await, async with, async for, while"""
    around: ast.AST | None = None
    """The statement of an `async with`."""


class Wait(Struct, frozen=True, eq=False):
    """A place that can wait without a limit, and the awaits by which one comes to it, outermost first."""

    chain: tuple[Step, ...]
    runs: ast.expr | None = None
    """The function that another thread runs meanwhile."""
    where: Function | None = None
    """The function in which that is written."""
    lock: bool = False
    """A lock that the end of its block gives back."""


Chain = tuple[Step, ...]


class Waits:
    def __init__(self, search: Search, rank: int) -> None:
        self._objects = search.objects
        self._program = search.program
        self._one = search.one_rank(rank)
        self._left = _MOST_BODIES
        self._open: list[Function] = []
        self.found: list[Wait] = []
        self.whole = True
        """All that is awaited was looked at."""

    def of_value(self, function: Function, e: ast.expr, chain: Chain = ()) -> None:
        """What awaiting the value waits for."""
        for inside, each in awaited(self._objects, function, e):
            if isinstance(each, ast.Call):
                self._of_call(inside, each, chain)
            else:
                self._add(Wait(chain))

    def of_function(self, function: Function, chain: Chain = ()) -> None:
        """What awaiting a call of the function waits for."""
        if any(function is each for each in self._open):
            return
        self._left -= 1
        if self._left < 0 or len(self._open) >= _DEEPEST:
            self.whole = False
            return
        self._open.append(function)
        if isinstance(function.node, ast.AsyncFunctionDef):
            self._of_body(function, chain)
        else:
            # It waits for nothing itself, and returns what is awaited.
            values = returned_values(function)
            for value in values:
                self.of_value(function, value, chain)
            if not values:
                self._add(Wait(chain))
        self._open.pop()

    def _of_body(self, function: Function, chain: Chain) -> None:
        """What a coroutine, or an asynchronous generator, waits for while it runs."""
        waits: dict[ast.AST, bool] = {}
        for step in (step for node in own_nodes(function) for step in _steps(function, node)):
            before = len(self.found)
            if self._comes_to(function, step.node) and not limited(self._objects, function, step.node):
                self._of_step(step, (*chain, step))
            waits[step.node] = len(self.found) > before
        for node in own_nodes(function):
            if isinstance(node, ast.While) and not ends_itself(node) and self._comes_to(function, node):
                inside = [waits[each] for each in ast.walk(node) if each in waits]
                if inside and not any(inside):
                    self._add(Wait((*chain, Step(function, node, "while"))))

    def _of_step(self, step: Step, chain: Chain) -> None:
        function, e = step.function, step.node
        if isinstance(e, ast.Await):
            self.of_value(function, e.value, chain)
        elif isinstance(e, ast.While) or sets_limit(self._objects, function, e):
            return
        elif step.word == "async for":
            self._of_object(function, e, chain, ("__anext__",))
        elif isinstance(e, ast.Call) and set(outside(self._objects, function, e.func)) & _GROUPS:
            self._of_group(function, step.around, chain)
        elif set(self._objects.externals(e, Frame(function))) & _LOCKS:
            self._add(Wait(chain, lock=not self._acquired(e)))
        else:
            self._of_object(function, e, chain, ("__aenter__", "__aexit__"))

    def _acquired(self, lock: ast.expr) -> bool:
        """Whether a lock of that name is also taken without a block that gives it back."""
        name = _last(lock)
        takes = (site.call.func for site in self._objects.index.calls("acquire"))
        return any(isinstance(func, ast.Attribute) and _last(func.value) == name for func in takes)

    def _of_object(self, function: Function, e: ast.expr, chain: Chain, names: tuple[str, ...]) -> None:
        """A block or a loop over what the program makes itself; over anybody else's it may wait."""
        if isinstance(e, ast.Call) and not isinstance(resolve(function, e.func), Class):
            if ends_by_itself(self._objects, function, e):
                return
            made = targets_of(self._objects, Site(function, e))
            if made and all(isinstance(each.node, ast.AsyncFunctionDef) for each in made):
                self._of_bodies(made, chain)
                return
        classes = self._objects.classes(e, Frame(function))
        self._of_bodies(
            [f for cls in classes for name in names if (f := method(cls, name)) is not None], chain
        )

    def _of_bodies(self, functions: Iterable[Function], chain: Chain) -> None:
        found = list(functions)
        if not found or not all(_plain(each) for each in found):
            self._add(Wait(chain))
            return
        for function in found:
            self.of_function(function, chain)

    def _of_call(self, function: Function, call: ast.Call, chain: Chain) -> None:
        name = called_name(call)
        targets = targets_of(self._objects, Site(function, call))
        if targets and not isinstance(resolve(function, call.func), Class):
            self._of_bodies(targets, chain)
        elif name in IN_A_THREAD:
            runs = call.args[IN_A_THREAD[name]] if len(call.args) > IN_A_THREAD[name] else None
            self._add(Wait(chain, runs, function))
        elif (
            isinstance(call.func, ast.Attribute)
            and name not in _OF_LIBRARIES
            and not outside(self._objects, function, call.func)
        ):
            # Of an object of which nothing says what it is, the coroutines of that name.
            named = methods_named(self._program, name)
            self._of_bodies([f for f in named if isinstance(f.node, ast.AsyncFunctionDef)], chain)
        else:
            self._add(Wait(chain))

    def _of_group(self, function: Function, block: ast.AST | None, chain: Chain) -> None:
        """A group of tasks waits, at the end of its block, for all that were started in it."""
        items = block.items if isinstance(block, ast.AsyncWith) else []
        names = {item.optional_vars.id for item in items if isinstance(item.optional_vars, ast.Name)}
        for call in (node for node in ast.walk(block or function.node) if isinstance(node, ast.Call)):
            on = call.func.value if isinstance(call.func, ast.Attribute) else None
            if isinstance(on, ast.Name) and on.id in names and call.args:
                if called_name(call) == "create_task":
                    self.of_value(function, call.args[0], chain)
                elif called_name(call) in _STARTS:
                    started = ast.Call(call.args[0], call.args[1:], [])
                    self._of_call(function, ast.copy_location(started, call), chain)
            elif any(isinstance(given, ast.Name) and given.id in names for given in call.args):
                self._add(Wait(chain))

    def _comes_to(self, function: Function, node: ast.AST) -> bool:
        """False where this rank never takes the branch that the node stands in."""
        inner = node
        for outer in ancestors(function.module, node):
            if outer is function.node:
                return True
            if isinstance(outer, ast.If) and inner is not outer.test:
                taken = any(inner is each for each in outer.body)
                if taken not in self._one.outcomes(outer.test, function):
                    return False
            inner = outer
        return True

    def _add(self, wait: Wait) -> None:
        self.found.append(wait)
        self.whole = self.whole and bool(wait.chain)


def _steps(function: Function, node: ast.AST) -> Iterator[Step]:
    if isinstance(node, ast.Await):
        yield Step(function, node, "await")
    elif isinstance(node, ast.AsyncWith):
        yield from (Step(function, item.context_expr, "async with", node) for item in node.items)
    elif isinstance(node, ast.AsyncFor) or (isinstance(node, ast.comprehension) and node.is_async):
        yield Step(function, node.iter, "async for")


def _last(e: ast.expr) -> str:
    return (dotted(e) or "").rpartition(".")[2]


def _plain(function: Function) -> bool:
    """Whether what runs is the function itself: somebody's decorator may give it a limit."""
    for decorator in getattr(function.node, "decorator_list", ()):
        e = decorator.func if isinstance(decorator, ast.Call) else decorator
        target = resolve(function.module.functions[0], e)
        name = target.dotted if isinstance(target, External) else dotted(e) or ""
        if name.rsplit(".", 1)[-1] not in _PLAIN and not name.startswith("torch."):
            return False
    return True
