"""A thread issues a collective on a group that the rest of the program uses, too.

## Why this is bad

Collectives of a group pair by the order in which they are called, and two threads of a process have no order: which of
them comes first depends on how long each rank packs, writes or sleeps. On one rank the thread's collective comes before
that of the training loop, on another after it, and each waits for the other. It goes well until one rank is slow.

## Example

```python
import threading

import torch.distributed as dist


def write(state):
    size = save(state)
    dist.all_gather(sizes, size)  # beside the training loop's own collectives


def train(model, batches):
    for batch in batches:
        loss = step(model, batch)
        dist.all_reduce(loss)
        threading.Thread(target=write, args=(model.state_dict(),)).start()
```

## Use instead

```python
import threading

import torch.distributed as dist

writers = dist.new_group(backend="gloo")  # nobody else uses it


def write(state):
    size = save(state)
    dist.all_gather(sizes, size, group=writers)
```

## Limits

Known are `threading.Thread` and `Timer`, classes derived from `Thread`, and what is given to the `submit` of a
`ThreadPoolExecutor`. Reported where a collective of the whole job follows, in the function that starts the thread or in
its callers, before anything waits for the thread's end. A collective on a group is left alone, and so is a thread that
connects to the job by itself.
"""

import ast
from collections.abc import Iterable

from rankandfile.source.dependence.index import Site
from rankandfile.source.dependence.syntax import LOOPS, ancestors, dotted
from rankandfile.source.effects.event import Event, objects_of
from rankandfile.source.effects.issued import issued, issued_in
from rankandfile.source.effects.wrapped import last_name
from rankandfile.source.lint.rule import SETS_UP_GROUPS, Found, Rule, View, on_the_way
from rankandfile.source.lint.threads import POOL, starts
from rankandfile.source.program.modules import Function
from rankandfile.source.program.scopes import own_nodes

ORDER = 27
_WAITS = ("join", "result", "wait", "as_completed", "shutdown")
_SETS_UP = SETS_UP_GROUPS | {"destroy_process_group"}
_FURTHEST = 4


def _find(view: View) -> Iterable[Found]:
    for function in view.effects.loud:
        for site in starts(view, function):
            found = None if view.skip(site.function) else _beside(view, site, function)
            if found is not None:
                yield found


def _beside(view: View, site: Site, function: Function) -> Found | None:
    reached = view.reached(ast.Module([*_body(function)], []), view.all_divergences.group_of)
    if reached is None or reached[0].group is not None:
        return None
    event, calls = reached
    inside: set[Function] = set()
    in_thread = [*issued_in(view.effects, function, inside)]
    if any(each.op == "init_process_group" for each in in_thread):
        return None  # A rank of its own.
    other = _meets(view, site.function, site.call, inside, _FURTHEST)
    if other is None:
        return None
    return Found(
        severity="warning",
        function=site.function,
        node=site.call,
        message=f"`{function.name}` runs in a thread, and its `{event.op}` has no order with those of other threads",
        story=(
            *on_the_way(calls),
            (event.function, event.line, f"{event.words}, in the thread"),
            (other.function, other.line, f"{other.words}, outside the thread, which may not have ended"),
        ),
        fix="Make a group of its own for the thread, or call the collective where the thread's work is waited for.",
    )


def _body(function: Function) -> list[ast.stmt]:
    node = function.node
    return [ast.Expr(node.body)] if isinstance(node, ast.Lambda) else node.body


def _meets(view: View, function: Function, call: ast.Call, inside: set[Function], left: int) -> Event | None:
    """The first collective of the whole job that comes after the call, there or at its callers; None where something
    waits for the thread before."""
    around = list(ancestors(function.module, call))
    if any(isinstance(each, ast.With) and _is_pool(each) for each in around) or _asked_at_once(around, call):
        return None
    for each in _after(function, call, around):
        if _waits(view, each):
            return None
        event = next(filter(_of_all, issued(view.effects, each, {*inside})), None)
        if event is not None:
            return event
    if left == 0 or any(isinstance(each, ast.Return) for each in around):
        return None
    for site, _ in objects_of(view.program).callers(function):
        found = _meets(view, site.function, site.call, inside, left - 1)
        if found is not None:
            return found
    return None


def _is_pool(around: ast.With) -> bool:
    """At the end of a `with` over a pool, its threads have ended."""
    made = (item.context_expr for item in around.items)
    return any(isinstance(each, ast.Call) and last_name(each.func) == POOL for each in made)


def _asked_at_once(around: list[ast.AST], call: ast.Call) -> bool:
    """`pool.submit(run).result()`."""
    outer = around[0] if around else None
    return isinstance(outer, ast.Attribute) and outer.value is call and outer.attr in _WAITS


def _after(function: Function, call: ast.Call, around: list[ast.AST]) -> list[ast.Call]:
    """The calls of the function that come after this one, and those of the next round of a loop."""
    calls = sorted((n for n in own_nodes(function) if isinstance(n, ast.Call)), key=_place)
    loop = next((each for each in reversed(around) if isinstance(each, LOOPS)), None)
    ends = (call.end_lineno or call.lineno, call.end_col_offset or 0)
    behind = [each for each in calls if _place(each) >= ends]
    if loop is None:
        return behind
    first, last = (loop.lineno, loop.col_offset), (loop.end_lineno or loop.lineno, loop.end_col_offset or 0)
    again = [each for each in calls if first <= _place(each) < _place(call)]
    inside = [each for each in behind if _place(each) < last]
    return [*inside, *again, *behind[len(inside) :]]


def _place(call: ast.Call) -> tuple[int, int]:
    """Where its name ends: of `a().b()`, `a` comes first."""
    return call.func.end_lineno or call.lineno, call.func.end_col_offset or 0


def _waits(view: View, call: ast.Call) -> bool:
    """It waits for a thread, or runs a function of the program that does."""
    if _ends_one(call):
        return True
    name = last_name(call.func)
    functions = (f for m in view.effects.index.modules for f in m.functions if f.name == name)
    return any(_ends_one(n) for f in functions for n in own_nodes(f) if isinstance(n, ast.Call))


def _ends_one(call: ast.Call) -> bool:
    if last_name(call.func) not in _WAITS:
        return False
    of = call.func.value if isinstance(call.func, ast.Attribute) else None
    return not isinstance(of, (ast.Constant, ast.JoinedStr)) and "path" not in (dotted(of) or "").split(".")


def _of_all(event: Event) -> bool:
    """A collective of the whole job, and none that sets it up."""
    return event.sure and event.group is None and event.op not in _SETS_UP


RULE = Rule(find=_find, cause="order_inversion")
