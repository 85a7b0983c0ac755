"""A group is made without the timeout that the job was started with.

## Why this is bad

`new_group` does not inherit the timeout given to `init_process_group`: its collectives end after the backend's
default, so that a checkpoint or an evaluation that was given hours is killed after ten minutes on this group.

## Example

```python
import torch.distributed as dist

dist.init_process_group("nccl", timeout=timedelta(hours=2))
shard = dist.new_group(ranks)
```

## Use instead

```python
shard = dist.new_group(ranks, timeout=timedelta(hours=2))
```

## Limits

A hint, unless a longer time than the default stands in the code as a number, and in the same package as the group.
"""

import ast
from collections.abc import Iterable

from rankandfile.model.lint import Severity
from rankandfile.source.dependence.syntax import argument, constant
from rankandfile.source.effects.event import Event
from rankandfile.source.lint.rule import Found, Rule, View

ORDER = 220
_DEFAULT_S = 30 * 60
_SECONDS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400}


def _find(view: View) -> Iterable[Found]:
    events = [e for effects in view.effects.of.values() for e in effects if isinstance(e, Event)]
    calls = [
        (e, e.site)
        for e in events
        if isinstance(e.site, ast.Call) and e.name.startswith("torch.distributed.")
    ]
    given = [(e, argument(call, "timeout")) for e, call in calls if e.op == "init_process_group"]
    longer = next(((e, timeout) for e, timeout in given if timeout is not None), None)
    if longer is None:
        return
    start, timeout = longer
    longer_than_default = _seconds(timeout) > _DEFAULT_S
    around = start.function.module.path.rpartition("/")[0]
    for e, call in calls:
        if e.op == "new_group" and argument(call, 1, "timeout") is None and not view.skip(e.function):
            together = e.function.module.path.startswith(around)
            severity: Severity = "warning" if longer_than_default and together else "hint"
            yield Found(
                severity=severity,
                function=e.function,
                node=e.site,
                message="this group does not have the timeout of the job, but the backend's default",
                story=(
                    (start.function, start.line, "the job's timeout, which `new_group` does not inherit"),
                ),
                fix="Give `new_group` the same `timeout`.",
            )


def _seconds(timeout: ast.expr) -> float:
    """Of `timedelta(hours=2)`; 0 for what is not written as numbers."""
    if not isinstance(timeout, ast.Call):
        return 0
    parts = [(k.arg, constant(k.value)) for k in timeout.keywords]
    return sum(_SECONDS.get(name or "", 0) * n for name, n in parts if isinstance(n, (int, float)))


RULE = Rule(find=_find)
