"""A queue is waited for until all its tasks are done, and the thread that does them may leave one undone.

## Why this is bad

`join` waits until `task_done` was called for everything that was put in. An exception between `get` and `task_done`
ends the thread, or has it go on without a word of that task; then `join` waits for ever. The training is over, or
stands at a checkpoint, and the other ranks wait for this one.

## Example

```python
import torch.distributed as dist


def write(self):
    while True:
        step, state = self.jobs.get()
        save(step, state)  # a full disk ends the thread here
        self.jobs.task_done()


def close(self):
    self.jobs.join()
    dist.barrier()
```

## Use instead

```python
import torch.distributed as dist


def write(self):
    while True:
        step, state = self.jobs.get()
        try:
            save(step, state)
        except OSError as error:
            self.failed = error
        finally:
            self.jobs.task_done()


def close(self):
    self.jobs.join()
    dist.barrier()
```

## Limits

Reported in programs that issue collectives, where one name holds the queue in the function that takes from it and in
the one that waits. A `finally` with the `task_done` in it is enough, whatever is raised.
"""

import ast
from collections.abc import Iterable, Iterator

from rankandfile.source.dependence.syntax import JUMPS, ancestors, text
from rankandfile.source.effects.wrapped import last_name
from rankandfile.source.lint.rule import Found, Rule, View
from rankandfile.source.lint.threads import calm, catches_all
from rankandfile.source.program.modules import Function, Module
from rankandfile.source.program.scopes import own_nodes

ORDER = 303


def _find(view: View) -> Iterable[Found]:
    modules = (
        {f.module: None for f in view.asked if "task_done" in f.module.text} if view.effects.loud else {}
    )
    for module in modules:
        for function in module.functions:
            for taken, done in _tasks(function):
                if not _may_miss(function, taken, done):
                    continue
                for where, join in _waits(module, text(taken.func.value)):  # type: ignore[attr-defined]
                    if not view.skip(where):
                        yield _found(function, taken, done, where, join)


def _found(function: Function, taken: ast.Call, done: ast.Call, where: Function, join: ast.Call) -> Found:
    return Found(
        severity="warning",
        function=where,
        node=join,
        message=f"`{text(join, 60)}` has no end where a task is taken and never ticked off",
        story=(
            (
                function,
                done.lineno,
                f"ticks off what is taken at line {taken.lineno}, unless something is raised, or left out, in between",
            ),
        ),
        fix="Call `task_done` in a `finally`, behind a `try` that begins where the task is taken.",
    )


def _tasks(function: Function) -> Iterator[tuple[ast.Call, ast.Call]]:
    """Each place that ticks tasks off, with the one before it that takes them from the same queue."""
    calls = [n for n in own_nodes(function) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    taken = [call for call in calls if last_name(call.func) in ("get", "get_nowait")]
    last = max((c for c in calls if last_name(c.func) == "task_done"), key=lambda c: c.lineno, default=None)
    if last is None:
        return
    queue = text(last.func.value)  # type: ignore[attr-defined]
    before = [c for c in taken if c.lineno < last.lineno and text(c.func.value) == queue]  # type: ignore[attr-defined]
    if before:
        yield max(before, key=lambda call: call.lineno), last


def _may_miss(function: Function, taken: ast.Call, done: ast.Call) -> bool:
    """What is done with the task may raise, or jump, and the tick is in no `finally` that would be come to then."""
    around = list(ancestors(function.module, done))
    if any(isinstance(o, ast.Try) and any(done in ast.walk(s) for s in o.finalbody) for o in around):
        return False
    between = [
        node
        for node in own_nodes(function)
        if isinstance(node, (ast.Call, *JUMPS)) and taken.lineno < node.lineno < done.lineno
    ]
    return any(not _covered(function, node, done) for node in between)


def _covered(function: Function, node: ast.AST, done: ast.Call) -> bool:
    """The tick comes all the same: whatever it raises is caught in front of it, or it goes by one of its own."""
    if isinstance(node, JUMPS):
        block = next(_blocks(function, node), [])
        return any(_ticks(statement) for statement in block)
    if isinstance(node, ast.Call) and last_name(node.func) == "task_done":
        return True
    for outer in ancestors(function.module, node):
        if isinstance(outer, ast.Try) and any(node in ast.walk(s) for s in outer.body):
            behind = (outer.end_lineno or 0) < done.lineno
            ticked = [handler for handler in outer.handlers if behind or _ticks(handler)]
            return ticked == outer.handlers and any(catches_all(handler) for handler in ticked)
    return isinstance(node, ast.Call) and calm(node)


def _ticks(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Call) and last_name(n.func) == "task_done" for n in ast.walk(node))


def _blocks(function: Function, node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The block that the statement stands in."""
    for outer in ancestors(function.module, node):
        for _, value in ast.iter_fields(outer):
            if isinstance(value, list) and node in value:
                yield value


def _waits(module: Module, queue: str) -> Iterator[tuple[Function, ast.Call]]:
    """Where the file waits for all tasks of the queue, for as long as that takes."""
    for function in module.functions:
        for node in own_nodes(function):
            if not isinstance(node, ast.Call) or node.args or node.keywords:
                continue
            called = node.func
            if isinstance(called, ast.Attribute) and called.attr == "join" and text(called.value) == queue:
                yield function, node


RULE = Rule(find=_find, cause="teardown_only")
