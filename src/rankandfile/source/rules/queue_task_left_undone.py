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

Reported in programs that issue collectives, where a thread takes the tasks, and one name holds the queue in its
function and in the one that waits. A `finally` with the `task_done` in it is enough, whatever is raised; what a handler
does is taken to go well.
"""

import ast
from collections.abc import Iterable, Iterator

from rankandfile.source.dependence.syntax import JUMPS, LOOPS, ancestors, text
from rankandfile.source.effects.wrapped import last_name
from rankandfile.source.lint.rule import Found, Rule, View
from rankandfile.source.lint.threads import calm, catches_all, ends_the_process, in_a_thread, suppresses_all
from rankandfile.source.program.modules import Function
from rankandfile.source.program.scopes import own_nodes

ORDER = 303


def _find(view: View) -> Iterable[Found]:
    for function in view.asked if view.effects.loud else ():
        if "task_done" not in function.module.text:
            continue
        missed = [(taken, done) for taken, done in _tasks(function) if _may_miss(function, taken, done)]
        if not missed or not in_a_thread(view, function) or ends_the_process(view):
            continue
        for taken, done in {text(_queue(taken)): (taken, done) for taken, done in missed}.values():
            for where, join in _waits(function, text(_queue(taken))):
                if not view.skip(where):
                    yield _found(function, taken, done, where, join)


def _found(function: Function, taken: ast.Call, done: ast.Call, where: Function, join: ast.Call) -> Found:
    how = (
        f"ticks off what is taken at line {taken.lineno}, unless something is raised, or left out, in between"
    )
    return Found(
        severity="warning",
        function=where,
        node=join,
        message=f"`{text(join, 60)}` has no end where a task is taken and never ticked off",
        story=((function, done.lineno, how),),
        fix="Call `task_done` in a `finally`, behind a `try` that begins where the task is taken.",
    )


def _queue(call: ast.Call) -> ast.expr:
    assert isinstance(call.func, ast.Attribute)
    return call.func.value


def _tasks(function: Function) -> Iterator[tuple[ast.Call, ast.Call]]:
    """Each place that takes tasks, with the last one that ticks these off, before more are taken from the queue."""
    calls = [n for n in own_nodes(function) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    calls.sort(key=lambda call: call.lineno)
    for n, taken in enumerate(calls):
        if last_name(taken.func) not in ("get", "get_nowait"):
            continue
        ticks: list[ast.Call] = []
        for call in calls[n + 1 :]:
            if text(_queue(call)) == text(_queue(taken)):
                if last_name(call.func) in ("get", "get_nowait"):
                    break
                ticks += [call] if last_name(call.func) == "task_done" else []
        if ticks:
            yield taken, ticks[-1]


def _may_miss(function: Function, taken: ast.Call, done: ast.Call) -> bool:
    """What is done with the task may raise, or jump, and the tick is not come to then."""
    return any(
        not _covered(function, node, taken, done)
        for node in own_nodes(function)
        if isinstance(node, (ast.Call, *JUMPS)) and taken.lineno < node.lineno < done.lineno
    )


def _covered(function: Function, node: ast.AST, taken: ast.Call, done: ast.Call) -> bool:
    """The tick comes all the same, or there is nothing to be ticked off."""
    if isinstance(node, ast.Call) and (calm(node) or last_name(node.func) == "task_done"):
        return True
    jumps, below = isinstance(node, JUMPS), node
    if jumps and any(_ticks(statement) for statement in next(_blocks(function, node), [])):
        return True
    for outer in ancestors(function.module, node):
        if isinstance(node, (ast.Break, ast.Continue)) and isinstance(outer, LOOPS):
            return not _holds(outer, taken)  # It leaves a round of a loop further in.
        if jumps and isinstance(outer, ast.If) and _asks_for_the_end(outer.test):
            return True
        if isinstance(outer, ast.ExceptHandler):
            tried = next(ancestors(function.module, outer))
            if not jumps or (isinstance(tried, ast.Try) and any(_holds(s, taken) for s in tried.body)):
                return True  # What a handler does goes well; and where taking failed, nothing was taken.
        if suppresses_all(outer) and not jumps:
            return not _holds(outer, done)
        if isinstance(outer, ast.Try) and below not in outer.finalbody:
            if any(_ticks(statement) for statement in outer.finalbody):
                return True
            behind = (outer.end_lineno or 0) < done.lineno
            ticked = [handler for handler in outer.handlers if behind or _ticks(handler)]
            if (
                not jumps
                and below in outer.body
                and ticked == outer.handlers
                and any(map(catches_all, ticked))
            ):
                return True
        below = outer
    return False


def _asks_for_the_end(test: ast.expr) -> bool:
    """`task is None`: the word that nothing more comes is no task, and comes last."""
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Is, ast.Eq))


def _holds(node: ast.AST, call: ast.Call) -> bool:
    return any(each is call for each in ast.walk(node))


def _ticks(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Call) and last_name(n.func) == "task_done" for n in ast.walk(node))


def _blocks(function: Function, node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The block that the statement stands in."""
    for outer in ancestors(function.module, node):
        for _, value in ast.iter_fields(outer):
            if isinstance(value, list) and node in value:
                yield value


def _waits(thread: Function, queue: str) -> Iterator[tuple[Function, ast.Call]]:
    """Where another function of the file waits for all tasks of the queue, for as long as that takes."""
    for function in thread.module.functions:
        for node in own_nodes(function) if function is not thread else ():
            if not isinstance(node, ast.Call) or node.args or node.keywords:
                continue
            called = node.func
            if isinstance(called, ast.Attribute) and called.attr == "join" and text(called.value) == queue:
                yield function, node


RULE = Rule(find=_find, cause="teardown_only")
