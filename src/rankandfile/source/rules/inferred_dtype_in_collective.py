"""A tensor that is reduced gets its type from whatever value a rank happens to have.

## Why this is bad

`torch.tensor(x)` of a Python int is int64, of a float float32, of a NumPy number float64. Where `x` is one on one rank
and another on the next, the collective adds up bytes of different types: it hangs, or gives wrong numbers.

## Example

```python
import torch.distributed as dist

count = torch.tensor([state, total / steps])
dist.all_reduce(count)
```

## Use instead

```python
count = torch.tensor([state, total / steps], dtype=torch.float64)
dist.all_reduce(count)
```

## Limits

A hint: whether the value's type can differ is not known. Literals, and what `int(...)`, `float(...)`, `len(...)` or a
comparison make, are silent.
"""

from collections.abc import Iterable

from rankandfile.source.effects.type_of_value import type_of_value
from rankandfile.source.lint.rule import Found, Rule, View

ORDER = 230


def _find(view: View) -> Iterable[Found]:
    for function in view.functions:
        for event in view.events(function.node):
            if (made := type_of_value(function, event)) is not None:
                yield Found(
                    severity="hint",
                    function=function,
                    node=made,
                    message="the type of this tensor is that of the value, which ranks may have of different types",
                    story=((function, event.line, f"`{event.op}` needs one type on all ranks"),),
                    fix="Say which: `dtype=...`.",
                )


RULE = Rule(find=_find)
