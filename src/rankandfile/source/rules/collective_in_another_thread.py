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

Known are `threading.Thread` and `Timer`, classes derived from `Thread`, and what is given to the `submit` or `map` of
an executor. A group is taken for the thread's own where the program makes groups. A thread whose end is waited for
before the next collective of the function that starts it is left alone, and so is one that connects to the job by
itself.
"""

import ast
from collections.abc import Iterable, Iterator

from rankandfile.source.dependence.index import Site, function_of
from rankandfile.source.effects.event import Event
from rankandfile.source.effects.loud import Runs
from rankandfile.source.effects.wrapped import last_name
from rankandfile.source.lint.rule import GROUP_MAKERS, Found, Rule, View, on_the_way
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class, enclosing_class, external_bases
from rankandfile.source.program.scopes import own_nodes

ORDER = 27
_STARTERS = ("Thread", "Timer", "submit", "map")
_POOLS = ("submit", "map")
_THREAD = {"threading.Thread"}
_NO_THREADS = ("ProcessPoolExecutor", "multiprocessing", "Pool(")
_WAITS = ("join", "result", "wait")
_MAKES = GROUP_MAKERS - {"init_process_group"}
_SETS_UP = GROUP_MAKERS | {"destroy_process_group"}


def _find(view: View) -> Iterable[Found]:
    for function in view.effects.loud:
        for site in _starts(view, function):
            if not view.skip(site.function) and not _waited_for(view, site):
                found = _beside(view, site, function)
                if found is not None:
                    yield found


def _starts(view: View, function: Function) -> Iterator[Site]:
    """Where a thread is begun that runs the function."""
    for site, given in view.effects.index.handed_over.get(function.name, ()):
        name = last_name(site.call.func)
        if name not in _STARTERS or function_of(site.function, given) is not function:
            continue
        if name in _POOLS and any(word in site.function.module.text for word in _NO_THREADS):
            continue
        yield site
    own = enclosing_class(function) if function.name == "run" else None
    if own is not None and external_bases(own) & _THREAD:
        yield from view.effects.index.made(Class(own.module, own.node))


def _waited_for(view: View, site: Site) -> bool:
    """Whether the function that starts it waits for its end before anything is asked of the other ranks."""
    calls = [node for node in own_nodes(site.function) if isinstance(node, ast.Call)]
    after = [call for call in calls if call.lineno > site.call.lineno]
    waits = [call.lineno for call in after if last_name(call.func) in _WAITS]
    between = [call for call in after if waits and call.lineno < min(waits) and view.effects.of.get(call)]
    return bool(waits) and not between


def _beside(view: View, site: Site, function: Function) -> Found | None:
    reached = view.reached(ast.Module([*_body(function)], []), view.all_partings.group_of)
    if reached is None:
        return None
    event, calls = reached
    if event.group is not None and any(view.effects.index.calls(name) for name in _MAKES):
        return None  # It may be the thread's own.
    inside = _run_by(view, function)
    if any(each.op == "init_process_group" for f in inside for each in _events(view, f)):
        return None  # A rank of its own.
    others = (each for f in view.effects.loud if f not in inside for each in _events(view, f))
    other = next(
        (each for each in others if each.sure and each.op not in _SETS_UP and each.group is None), None
    )
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
            (other.function, other.line, f"{other.words}, on the same group, outside the thread"),
        ),
        fix="Make a group of its own for the thread, or call the collective where the thread's work is waited for.",
    )


def _body(function: Function) -> list[ast.stmt]:
    node = function.node
    return [ast.Expr(node.body)] if isinstance(node, ast.Lambda) else node.body


def _run_by(view: View, function: Function) -> set[Function]:
    """The function, and all that it runs."""
    found: set[Function] = set()
    queue = [function]
    while queue:
        current = queue.pop()
        if current not in found:
            found.add(current)
            effects = (e for node in own_nodes(current) for e in view.effects.of.get(node, ()))
            queue.extend(e.target for e in effects if isinstance(e, Runs))
    return found


def _events(view: View, function: Function) -> list[Event]:
    return [e for node in own_nodes(function) for e in view.effects.of.get(node, ()) if isinstance(e, Event)]


RULE = Rule(find=_find, cause="order_inversion")
