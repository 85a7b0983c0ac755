"""A rank waits for a queue as long as it takes, and the thread at the other end may have ended.

## Why this is bad

An exception in a thread ends that thread and nothing else. What it read ahead comes no more, or what it was to write
fills the queue; and the rank waits in `get`, or in `put`, for ever. The other ranks wait for it in the next collective.

## Example

```python
import queue

import torch.distributed as dist


def read(self):
    for row in self.rows:
        self.ready.put(parse(row))  # a row that cannot be parsed ends the thread


def train(self):
    while (sample := self.ready.get()) is not None:
        dist.all_reduce(self.step(sample))
```

## Use instead

```python
import queue

import torch.distributed as dist


def read(self):
    try:
        for row in self.rows:
            self.ready.put(parse(row))
    except Exception as error:
        self.ready.put(error)  # whoever takes it raises it


def train(self):
    while (sample := self.ready.get(timeout=600)) is not None:
        if isinstance(sample, Exception):
            raise sample
        dist.all_reduce(self.step(sample))
```

## Limits

Known are threads of `threading`, and of its pools, whose function, or one that it calls in its file, uses the queue by
the name that the other end uses, in programs that issue collectives. Of a queue without a size, `put` never waits. A
time limit, a handler of all exceptions in the thread, or a `finally` in it that uses the queue are enough; and so is a
handler of what it expects inside the loop. A thread that neither reads, writes, converts nor calls what raises is taken
to stay.
"""

import ast
import re
from collections.abc import Iterable, Iterator

from rankandfile.source.dependence.index import Site
from rankandfile.source.dependence.objects.called_later import targets_of
from rankandfile.source.dependence.syntax import LOOPS, ancestors, loops_around, text
from rankandfile.source.effects.event import objects_of
from rankandfile.source.effects.wrapped import last_name
from rankandfile.source.lint.rule import Found, Rule, View
from rankandfile.source.lint.threads import (
    called_here,
    calm,
    catches_all,
    ends_the_process,
    goes_on,
    starts,
    suppresses_all,
)
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import enclosing_class
from rankandfile.source.program.scopes import own_nodes

ORDER = 304
_OTHER_END = {"get": "put", "put": "get"}
_QUEUES = ("Queue", "LifoQueue", "PriorityQueue")
_MAY_FAIL = re.compile(
    r"(open|read|write|save|load|dump|send|recv|upload|download|unlink|rmtree|mkdir|rmdir|touch|stat|parse|decode|float|"
    r"strptime|fromisoformat|rename|copyfile|copytree|copy2|move|check_call|check_output|urlopen)(s|_\w+)?"
)
"""Names of what reads, writes or converts something."""
_DEEPEST = 3
#: Of what runs in a pool: whether it has ended, and how.
_ASKS = ("done", "result", "exception")


def _find(view: View) -> Iterable[Found]:
    for function in view.asked if view.effects.loud else ():
        if "ueue" not in function.module.text or next(starts(view, function), None) is None:
            continue
        inside = _reached(function)
        for queue, makers in _queues(function).items():
            sized = [*makers.values()][-1]
            for end, other in _OTHER_END.items():
                mine = [c for f in inside for c in _uses(f, queue, end) if _in_loop(function, f, c)]
                waits = (
                    _other_end(makers, inside, queue, other) if mine and (sized or other == "get") else None
                )
                if waits is None or view.skip(waits[0]) or ends_the_process(view):
                    continue
                if any(_may_end(view, function, each, queue) for each in _reached(function, queue)):
                    yield _found(function, mine[0], *waits, other)


def _found(thread: Function, mine: ast.Call, where: Function, call: ast.Call, what: str) -> Found:
    waits = "for room" if what == "put" else "for what comes"
    does = "takes from" if what == "put" else "puts into"
    return Found(
        severity="warning",
        function=where,
        node=call,
        message=f"`{text(call, 60)}` waits {waits} without end where the thread at the other end has ended",
        story=((thread, mine.lineno, f"{does} the queue in a thread, which ends with the first exception"),),
        fix="Catch all exceptions in the thread and hand them on through the queue, and wait with a limit.",
    )


def _reached(thread: Function, uncaught: str = "") -> list[Function]:
    """The thread's function, and those of the same file that it calls; given a queue, only where what they raise is
    neither caught nor told through it."""
    found, todo = [thread], [thread]
    while todo:
        function = todo.pop()
        calls = (node for node in own_nodes(function) if isinstance(node, ast.Call))
        names = {last_name(c.func) for c in calls if not (uncaught and _covered(function, c, uncaught))}
        more = [f for f in called_here(function) if f.name in names and f not in found]
        found += more
        todo += more
    return found


def _queues(thread: Function) -> dict[str, dict[Function, bool]]:
    """What is set to a queue where the thread can see it, by its name: the functions in which it is, and whether it has
    a size."""
    found: dict[str, dict[Function, bool]] = {}
    for function in thread.module.functions:
        for node in own_nodes(function):
            value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
            if not isinstance(value, ast.Call) or last_name(value.func) not in _QUEUES:
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", value)]
            for name in map(text, targets):
                if _seen(name, function, thread):
                    found.setdefault(name, {})[function] = _sized(value)
    return found


def _sized(made: ast.Call) -> bool:
    size = next(iter([*made.args, *(k.value for k in made.keywords if k.arg == "maxsize")]), None)
    try:
        return size is not None and ast.literal_eval(size) > 0
    except (ValueError, TypeError):
        return True


def _seen(queue: str, made_in: Function, function: Function) -> bool:
    """The name means the same there: an object's own in its class, a variable where it is set and further in."""
    if queue.startswith("self."):
        return enclosing_class(made_in) == enclosing_class(function)
    inner: Function | None = function
    while inner is not None and inner is not made_in:
        inner = inner.parent
    return inner is made_in or isinstance(made_in.node, ast.Module)


def _uses(function: Function, queue: str, how: str) -> Iterator[ast.Call]:
    for node in own_nodes(function):
        func = node.func if isinstance(node, ast.Call) else None
        if isinstance(func, ast.Attribute) and func.attr == how and text(func.value) == queue:
            yield node  # type: ignore[misc]


def _other_end(
    makers: Iterable[Function], inside: list[Function], queue: str, how: str
) -> tuple[Function, ast.Call] | None:
    """Where the queue is waited for outside the thread."""
    thread = inside[0]
    for function in thread.module.functions:
        if function not in inside and any(_seen(queue, maker, function) for maker in makers):
            for call in _uses(function, queue, how):
                if _waits(function, call, queue):
                    return function, call
    return None


def _in_loop(thread: Function, function: Function, call: ast.AST) -> bool:
    """Again and again: in a loop, or in what the thread's function calls."""
    return function is not thread or bool(loops_around(function.module, call))


def _may_end(view: View, thread: Function, function: Function, queue: str) -> bool:
    """Something that it does again and again may raise, and nothing keeps the thread from ending by that."""
    calls = [c for c in own_nodes(function) if isinstance(c, ast.Call) and _in_loop(thread, function, c)]
    return any(
        _may_fail(view, function, call, queue, _DEEPEST)
        for call in calls
        if not _covered(function, call, queue)
    )


def _may_fail(view: View, function: Function, call: ast.Call, queue: str, left: int) -> bool:
    """By what a function of the program that it calls does, or by its name."""
    if isinstance(call.func, ast.Attribute) and text(call.func.value) == queue:
        return False
    if _MAY_FAIL.fullmatch(last_name(call.func)) and not calm(call):
        return True
    return any(
        isinstance(node, ast.Raise)
        or (isinstance(node, ast.Call) and _may_fail(view, target, node, queue, left - 1))
        for target in (targets_of(objects_of(view.program), Site(function, call)) if left else ())
        for node in own_nodes(target)
        if not _covered(target, node, queue)
    )


def _covered(function: Function, node: ast.AST, queue: str) -> bool:
    """Whatever it raises is caught in this function, or told through the queue."""
    looped, below = False, node
    for outer in ancestors(function.module, node):
        if isinstance(outer, ast.ExceptHandler) and isinstance(node, ast.Call):
            return True  # What is done about an exception is taken to go well.
        if suppresses_all(outer):
            return True
        if isinstance(outer, ast.Try) and (below in outer.body or below in outer.orelse):
            expected = not looped and any(goes_on(handler) for handler in outer.handlers)
            told = any(queue in text(statement) for statement in outer.finalbody)
            if told or (below in outer.body and (expected or any(map(catches_all, outer.handlers)))):
                return True
        looped |= isinstance(outer, LOOPS)
        below = outer
    return False


def _waits(function: Function, call: ast.Call, queue: str) -> bool:
    """For as long as it takes; not with the word that nothing more comes, nor where something was asked first."""
    if any(last_name(n.func) in _ASKS for n in own_nodes(function) if isinstance(n, ast.Call)):
        return False
    asked = {f"{queue}.{name}()" for name in ("empty", "full", "qsize")}
    tests = (o.test for o in ancestors(function.module, call) if isinstance(o, (ast.If, ast.While)))
    if any(text(part) in asked for test in tests for part in ast.walk(test) if isinstance(part, ast.Call)):
        return False
    limited = any(k.arg in ("timeout", "block") for k in call.keywords)
    given = call.args[0] if call.args else None
    if last_name(call.func) == "get":
        return not limited and not call.args
    return (
        not limited and len(call.args) == 1 and not (isinstance(given, ast.Constant) and given.value is None)
    )


RULE = Rule(find=_find, cause="host_blocked")
