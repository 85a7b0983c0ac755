"""A collective stands in a `finally`, where a rank that failed comes alone.

## Why this is bad

The rank that raised goes to the `finally` at once, while the others are still in the collectives of the `try`: it
waits for them there, its traceback is not printed, and the job looks like a hang instead of an exception.

## Example

```python
import torch.distributed as dist

try:
    train(model)  # reduces gradients
finally:
    dist.barrier()
```

## Use instead

```python
import torch.distributed as dist

train(model)
dist.barrier()  # after success only; an exception ends the process, and the launcher ends the others
```

## Limits

`destroy_process_group()` in a `finally` is a hint only: it waits for work under way, and is seldom what hangs.
"""

import ast
from collections.abc import Iterable, Iterator

from rankandfile.source.lint.rule import Found, Rule, View
from rankandfile.source.program.modules import Function
from rankandfile.source.program.scopes import own_nodes

ORDER = 210


def _find(view: View) -> Iterable[Found]:
    for function in view.functions:
        yield from _at_exit(view, function)
        for node in own_nodes(function):
            if not isinstance(node, ast.Try) or not node.finalbody or not _may_fail(node):
                continue
            events = [event for s in node.finalbody for event in view.events(s)]
            for event in [e for e in events if e.sure][:1] or events[:1]:
                yield Found(
                    severity="warning" if event.sure else "hint",
                    function=function,
                    node=event.site,
                    message=f"a rank that raised in the `try` comes to `{event.op}` alone",
                    story=(
                        (function, node.lineno, "what raises here on one rank goes to the `finally` at once"),
                    ),
                    fix="Put it after the `try`, so that it is reached after success only.",
                )


def _at_exit(view: View, function: Function) -> Iterator[Found]:
    """What `__exit__` issues whatever happened: it is where the block of a `with` goes when it raises, too."""
    node = function.node
    if function.name != "__exit__" or isinstance(node, (ast.Module, ast.Lambda)) or _asks(function):
        return
    for event in [e for s in node.body for e in view.events(s) if e.sure][:1]:
        yield Found(
            severity="warning",
            function=function,
            node=event.site,
            message=f"a rank that raised inside the `with` comes to `{event.op}` alone",
            story=((function, function.first_line, "runs after an exception as well, before it is printed"),),
            fix="Return at once where `exc_type` is not None, so that it is reached after success only.",
        )


def _asks(function: Function) -> bool:
    """It looks at whether there was an exception."""
    given = set(function.parameters[1:])
    return any(
        (isinstance(part, ast.Name) and part.id in given)
        or (isinstance(part, ast.Attribute) and part.attr == "exc_info")
        for part in own_nodes(function)
    )


def _may_fail(node: ast.Try) -> bool:
    """Something of this rank's own is done in the `try`: a bare `yield` hands over to whoever asked for order."""
    return any(isinstance(part, ast.Call) for s in node.body for part in ast.walk(s)) and not any(
        isinstance(part, (ast.Yield, ast.YieldFrom)) for s in node.body for part in ast.walk(s)
    )


RULE = Rule(find=_find)
