"""Some ranks have an object whose method issues a collective, where others have one that does nothing.

## Why this is bad

A progress bar, a logger or a writer that only rank 0 has real is the rank test out of sight: each rank calls the same
method, and only one comes to the collective in it.

## Example

```python
import torch.distributed as dist


class Console:
    def tick(self):
        dist.all_reduce(self.loss)
        print(self.loss)


class Silent:
    def tick(self): ...


progress = Console() if dist.get_rank() == 0 else Silent()
progress.tick()
```

## Use instead

```python
dist.all_reduce(loss)
progress.tick(loss)  # prints, or not
```

## Limits

Reported where all classes that the object can be of are known, and a test of the rank chooses.
"""

import ast
from collections.abc import Iterable, Iterator

from rankandfile.source.dependence import why_kind
from rankandfile.source.dependence.reaching_assignments import reaching
from rankandfile.source.dependence.syntax import loop_of, text
from rankandfile.source.effects.loud import Runs
from rankandfile.source.lint.rule import RANK, Found, Rule, View, can_differ, on_the_way, steps_of
from rankandfile.source.lint.weigh import of_reason
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import method
from rankandfile.source.program.scopes import own_nodes

ORDER = 278


def _find(view: View) -> Iterable[Found]:
    for call, function, owner in _dispatched(view):
        assert isinstance(call.func, ast.Attribute)
        reached = view.reached(call, view.all_divergences.group_of)
        if reached is None:
            continue
        event, calls = reached
        reason = why_kind(view.program, function, call.func.value)
        if reason.source not in RANK or of_reason(reason, view.all_divergences.group_of(event)) != "warning":
            continue
        yield Found(
            severity="warning",
            function=function,
            node=call,
            message=f"`{event.op}` is called only by ranks whose `{text(call.func.value, 60)}` is a `{owner}`",
            story=(
                can_differ(function, call.lineno, reason),
                *on_the_way(calls),
                (event.function, event.line, event.words),
            ),
            steps=steps_of(reason),
            fix="Call the collective on every rank, and hand its result to the object.",
        )


def _dispatched(view: View) -> Iterator[tuple[ast.Call, Function, str]]:
    """Calls of a method that issues collectives in some of the classes that the object can be of, and in others not;
    the name of one of the former."""
    for function in view.functions:
        for node in own_nodes(function):
            effects = view.effects.of.get(node, ()) if isinstance(node, ast.Call) else ()
            if not any(isinstance(each, Runs) and each.bound for each in effects):
                continue
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if _one_of_many(function, node.func.value):
                    continue
                owner = _of_some(view, function, node.func)
                if owner is not None:
                    yield node, function, owner


def _one_of_many(function: Function, e: ast.expr) -> bool:
    """The items of a loop may be of several classes on every rank."""
    if not isinstance(e, ast.Name):
        return not isinstance(e, ast.Attribute)
    loops = (ast.For, ast.AsyncFor)
    return loop_of(function.module, e) is not None or any(
        isinstance(d.site, loops) for d in reaching(function).everywhere(e.id)
    )


def _of_some(view: View, function: Function, called: ast.Attribute) -> str | None:
    found = {cls: method(cls, called.attr) for cls in view.effects.classes(called.value, function)}
    loud = [cls for cls, its in found.items() if its in view.effects.loud]
    return loud[0].name if loud and len(loud) < len(found) and all(found.values()) else None


RULE = Rule(find=_find)
