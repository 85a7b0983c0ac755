"""A function with collectives in it is begun again on the rank where it failed.

## Why this is bad

A decorator that tries again begins the function anew on the one rank that ran out of memory, or lost a connection. The
collectives that it had issued are issued a second time there, while the others are in the later ones of their first
try: from then on its calls pair with the wrong ones of theirs.

## Example

```python
from accelerate.utils import find_executable_batch_size


@find_executable_batch_size(starting_batch_size=64)
def fit(batch_size):
    return train(model, batch_size)  # reduces gradients
```

## Use instead

```python
batch_size = probe(model)  # tried without collectives, on every rank
smallest = torch.tensor(batch_size)
dist.all_reduce(smallest, op=dist.ReduceOp.MIN)
fit(smallest.item())
```

## Limits

Known are the decorators of Accelerate, Tenacity, backoff, retrying and retry, by the names that they are imported as.
"""

import ast
from collections.abc import Iterable

from rankandfile.source.effects.sequences import Sequences
from rankandfile.source.flow.build import graph_of
from rankandfile.source.lint.rule import Found, Rule, View, on_the_way
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import External, resolve

ORDER = 275
_TRY_AGAIN = {
    "accelerate.utils.find_executable_batch_size",
    "accelerate.utils.memory.find_executable_batch_size",
    "tenacity.retry",
    "backoff.on_exception",
    "retrying.retry",
    "retry.retry",
}


def _find(view: View) -> Iterable[Found]:
    for function in view.functions:
        decorator = _tries_again(function)
        if decorator is None:
            continue
        walk = Sequences(view.effects, function, frozenset(), view.all_partings.group_of)
        issued, _opaque, _ends = walk.all(walk.start([graph_of(function).entry]))
        found = next(((event, place[3]) for event, place in issued if event.sure), None)
        if found is None:
            continue
        event, calls = found
        shown = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)
        yield Found(
            severity="warning",
            function=function,
            node=decorator,
            message=f"`{shown}` begins `{function.name}` again on the rank that failed, with `{event.op}` in it",
            story=(
                (
                    function,
                    decorator.lineno,
                    "an exception of one rank, as out of memory, ends here on that rank only",
                ),
                *on_the_way(calls),
                (event.function, event.line, event.words),
            ),
            fix="Try without collectives and agree on the outcome, or let the exception end the job.",
        )


def _tries_again(function: Function) -> ast.expr | None:
    outer = function.parent or function.module.functions[0]
    for decorator in getattr(function.node, "decorator_list", ()):
        target = resolve(outer, decorator.func if isinstance(decorator, ast.Call) else decorator)
        if isinstance(target, External) and target.dotted in _TRY_AGAIN:
            return decorator  # type: ignore[no-any-return]
    return None


RULE = Rule(find=_find)
