"""A rank waits for a file to come or go, for as long as that takes.

## Why this is bad

Whoever is to write the file, or to delete it, may have failed, may have been killed, or may look at another folder.
Nothing says so: this rank looks again and again, and the others wait for it in the next collective.

## Example

```python
import time

import torch.distributed as dist

while not marker.exists():
    time.sleep(0.5)
dist.barrier()
```

## Use instead

```python
import time

import torch.distributed as dist

ends = time.monotonic() + 600
while not marker.exists():
    if time.monotonic() > ends:
        raise TimeoutError(f"nobody wrote {marker}")
    time.sleep(0.5)
dist.barrier()
```

## Limits

Reported for loops that do nothing but ask and sleep, in programs that issue collectives. What is asked for may be no
file, but a table, or a key.
"""

import ast
from collections.abc import Iterable

from rankandfile.source.dependence.syntax import text
from rankandfile.source.effects.wrapped import last_name
from rankandfile.source.lint.rule import Found, Rule, View
from rankandfile.source.program.scopes import own_nodes

ORDER = 302
_ASKS = {"exists", "is_file", "is_dir", "isfile", "isdir", "lexists"}
_IDLE = {"sleep", "debug", "info", "warning", "print", "wait"}


def _find(view: View) -> Iterable[Found]:
    for function in view.asked if view.effects.loud else ():
        if not any(word in function.module.text for word in _ASKS):
            continue
        for loop in own_nodes(function):
            if isinstance(loop, ast.While) and _asks(loop.test) and all(_is_idle(s) for s in loop.body):
                yield Found(
                    severity="warning",
                    function=function,
                    node=loop,
                    message=f"`while {text(loop.test, 60)}` has no end where nobody does what it waits for",
                    fix="Wait until a deadline, and raise with the name of what was waited for.",
                )


def _asks(test: ast.expr) -> bool:
    """Whether the test is about files alone: a deadline, or anything else that is asked, may end the loop."""
    asked = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
    if isinstance(asked, ast.Call) and last_name(asked.func) in ("all", "any") and asked.args:
        given = asked.args[0]
        return isinstance(given, (ast.GeneratorExp, ast.ListComp)) and _asks(given.elt)
    return isinstance(asked, ast.Call) and last_name(asked.func) in _ASKS


def _is_idle(statement: ast.stmt) -> bool:
    """It passes, sleeps, or says that it waits."""
    if not isinstance(statement, ast.Expr):
        return isinstance(statement, ast.Pass)
    called = statement.value
    return isinstance(called, ast.Constant) or (
        isinstance(called, ast.Call) and last_name(called.func) in _IDLE
    )


RULE = Rule(find=_find, cause="host_blocked")
