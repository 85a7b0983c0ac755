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

Known are threads of `threading` whose function, or one that it calls in its file, uses the queue by the name that the
other end uses, in programs that issue collectives. Of a queue without a size, `put` never waits. A time limit, a
handler of all exceptions in the thread, or a `finally` in it that uses the queue are enough. A thread that neither
reads, writes, converts nor calls what raises is taken to stay.
"""

import ast
import re
from collections.abc import Iterable, Iterator

from rankandfile.source.dependence.syntax import ancestors, text
from rankandfile.source.effects.wrapped import last_name
from rankandfile.source.lint.rule import Found, Rule, View
from rankandfile.source.lint.threads import calm, catches_all, starts
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import enclosing_class
from rankandfile.source.program.scopes import own_nodes

ORDER = 304
_OTHER_END = {"get": "put", "put": "get"}
_QUEUES = ("Queue", "LifoQueue", "PriorityQueue")
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_MAY_FAIL = re.compile(
    r"(open|read|write|save|load|dump|send|recv|upload|download|copy|move|rename|replace|remove|unlink|rmtree|mkdir|"
    r"rmdir|touch|stat|parse|encode|decode|int|float|strptime|fromisoformat|check_call|check_output|urlopen|request)"
    r"(s|_\w+)?"
)
"""Names of what reads, writes or converts something."""
_DEEPEST = 3


def _find(view: View) -> Iterable[Found]:
    for function in view.asked if view.effects.loud else ():
        if "ueue" not in function.module.text or next(starts(view, function), None) is None:
            continue
        inside = _inside(function)
        for queue, sized in (queues := _queues(function)).items():
            for end, other in _OTHER_END.items():
                mine = [c for f in inside for c in _uses(f, queue, end) if _in_loop(function, f, c)]
                waits = (
                    _other_end(function, inside, queue, other) if mine and (sized or other == "get") else None
                )
                if waits is not None and not view.skip(waits[0]) and _may_end(view, function, queue, queues):
                    yield _found(function, mine[0], *waits, other)


def _other_end(
    thread: Function, inside: list[Function], queue: str, how: str
) -> tuple[Function, ast.Call] | None:
    """Where the queue is waited for outside the thread; an object's own queue, in its own class."""
    for function in thread.module.functions:
        if function in inside or not _one_for_both(queue, function, thread):
            continue
        for call in _uses(function, queue, how):
            if _waits(call):
                return function, call
    return None


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


def _inside(function: Function) -> list[Function]:
    """The thread's function, and those of the same file that it calls by name."""
    found, todo = [function], [function]
    while todo:
        called = {last_name(n.func) for n in own_nodes(todo.pop()) if isinstance(n, ast.Call)}
        more = [f for f in function.module.functions if f.name in called and f not in found]
        found += more
        todo += more
    return found


def _queues(thread: Function) -> dict[str, bool]:
    """What is set to a queue in the file, or for an object's own in its class; and whether it has a size."""
    found: dict[str, bool] = {}
    for function in thread.module.functions:
        for node in own_nodes(function):
            value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
            if not isinstance(value, ast.Call) or last_name(value.func) not in _QUEUES:
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", value)]
            size = next(iter([*value.args, *(k.value for k in value.keywords if k.arg == "maxsize")]), None)
            sized = size is not None and not (isinstance(size, ast.Constant) and not size.value)
            names = [name for target in targets if _one_for_both(name := text(target), function, thread)]
            found.update(dict.fromkeys(names, sized))
    return found


def _one_for_both(queue: str, one: Function, other: Function) -> bool:
    """What is an object's own is the same in its own class."""
    return not queue.startswith("self.") or enclosing_class(one) == enclosing_class(other)


def _uses(function: Function, queue: str, how: str) -> Iterator[ast.Call]:
    for node in own_nodes(function):
        func = node.func if isinstance(node, ast.Call) else None
        if isinstance(func, ast.Attribute) and func.attr == how and text(func.value) == queue:
            yield node  # type: ignore[misc]


def _in_loop(thread: Function, function: Function, call: ast.Call) -> bool:
    """Again and again: in a loop, or in what the thread's function calls."""
    return function is not thread or any(isinstance(o, _LOOPS) for o in ancestors(function.module, call))


def _may_end(view: View, function: Function, queue: str, queues: dict[str, bool]) -> bool:
    """Something in its loop may raise, and no handler of all exceptions is around, nor a `finally` with the queue."""
    return any(
        not _covered(function, call, queue) and _may_fail(view, call, queues, _DEEPEST)
        for call in own_nodes(function)
        if isinstance(call, ast.Call)
        and any(isinstance(outer, _LOOPS) for outer in ancestors(function.module, call))
    )


def _may_fail(view: View, call: ast.Call, queues: dict[str, bool], left: int) -> bool:
    """By its name, or by what a function of the program of that name does."""
    name = last_name(call.func)
    if calm(call) or (isinstance(call.func, ast.Attribute) and text(call.func.value) in queues):
        return False
    if _MAY_FAIL.fullmatch(name):
        return True
    functions = [f for m in view.effects.index.modules for f in m.functions if left and f.name == name]
    return any(
        isinstance(node, ast.Raise)
        or (isinstance(node, ast.Call) and _may_fail(view, node, queues, left - 1))
        for each in functions
        for node in own_nodes(each)
    )


def _covered(function: Function, call: ast.Call, queue: str) -> bool:
    """What is done about an exception is taken to go well."""
    for outer in ancestors(function.module, call):
        if isinstance(outer, ast.ExceptHandler):
            return True
        if isinstance(outer, ast.Try) and any(call in ast.walk(s) for s in (*outer.body, *outer.orelse)):
            caught = any(catches_all(handler) for handler in outer.handlers)
            told = any(queue in text(s) for s in outer.finalbody)
            if caught or told:
                return True
    return False


def _waits(call: ast.Call) -> bool:
    """For as long as it takes; and not with the word that nothing more comes."""
    limited = any(k.arg in ("timeout", "block") for k in call.keywords)
    given = call.args[0] if call.args else None
    if last_name(call.func) == "get":
        return not limited and not call.args
    return (
        not limited and len(call.args) == 1 and not (isinstance(given, ast.Constant) and given.value is None)
    )


RULE = Rule(find=_find, cause="host_blocked")
