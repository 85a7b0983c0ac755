"""Each rank decides by itself which backward exchanges gradients.

## Why this is bad

Inside `no_sync` backward issues nothing, outside of it all gradients are reduced. Ranks that decide by their own
tokens, lengths or losses exchange at different micro-batches: one waits in backward for those that are a step behind.

## Example

```python
context = nullcontext() if self.tokens >= self.budget else self.model.no_sync()
with context:
    loss.backward()
```

## Use instead

```python
last = micro == accumulate - 1  # counted, the same on every rank
with nullcontext() if last else self.model.no_sync():
    loss.backward()
```

## Limits

A decision of which it is not known where it comes from is silent.
"""

import ast
from collections.abc import Iterable, Iterator

from rankandfile.source.dependence import why
from rankandfile.source.dependence.syntax import ancestors, argument
from rankandfile.source.lint.rule import Found, Rule, View, can_differ, steps_of
from rankandfile.source.lint.weigh import of_reason
from rankandfile.source.program.modules import Function

ORDER = 280
_ENABLED: dict[str, int | str] = {
    "no_backward_sync": "enabled",
    "set_requires_gradient_sync": 0,
    "set_is_last_backward": 0,
}


def _find(view: View) -> Iterable[Found]:
    for name in ("no_sync", *_ENABLED):
        for site in view.effects.index.calls(name):
            if view.skip(site.function):
                continue
            for test in _tests(site.function, site.call, name):
                reason = why(view.program, site.function, test)
                severity = of_reason(reason)
                shown = ast.unparse(test)
                if severity is not None:
                    yield Found(
                        severity=severity,
                        function=site.function,
                        node=test,
                        message=f"`{shown}` decides which backward reduces gradients, on each rank by itself",
                        story=(
                            can_differ(site.function, test.lineno, reason),
                            (site.function, site.call.lineno, f"`{name}` leaves the reduction out"),
                        ),
                        steps=steps_of(reason),
                        fix="Decide by what all ranks count alike, or all_reduce the decision.",
                    )
                    break


def _tests(function: Function, call: ast.Call, name: str) -> Iterator[ast.expr]:
    place = _ENABLED.get(name)
    given = argument(call, place) if place is not None else None
    if given is not None:
        yield given
    for outer in ancestors(function.module, call):
        if isinstance(outer, (ast.If, ast.IfExp)) and call not in ast.walk(outer.test):
            yield outer.test
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return


RULE = Rule(find=_find)
