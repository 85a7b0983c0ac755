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
from collections.abc import Iterable

from rankandfile.source.lint.rule import Found, Rule, View
from rankandfile.source.program.scopes import own_nodes

ORDER = 210


def _find(view: View) -> Iterable[Found]:
    for function in view.functions:
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
                    fix="Put it behind the `try`, so that it is reached after success only.",
                )


def _may_fail(node: ast.Try) -> bool:
    """Something of this rank's own is done in the `try`: a bare `yield` hands over to whoever asked for order."""
    return any(isinstance(part, ast.Call) for s in node.body for part in ast.walk(s)) and not any(
        isinstance(part, (ast.Yield, ast.YieldFrom)) for s in node.body for part in ast.walk(s)
    )


RULE = Rule(find=_find)
