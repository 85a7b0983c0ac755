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

import ast
from collections.abc import Iterable

from rankandfile.source.dependence.reaching_assignments import reaching
from rankandfile.source.dependence.syntax import argument, dotted
from rankandfile.source.effects.event import Event
from rankandfile.source.lint.rule import Found, Rule, View
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import External, resolve
from rankandfile.source.registry.tables import sanitiser

ORDER = 230
_OF_ONE_TYPE = {"int", "float", "len", "bool", "sum"}


def _find(view: View) -> Iterable[Found]:
    for function in view.functions:
        for event in view.events(function.node):
            made = _made(function, event)
            if made is not None and _open(made.args[0]):
                yield Found(
                    severity="hint",
                    function=function,
                    node=made,
                    message="the type of this tensor is that of the value, which ranks may have of different types",
                    story=((function, event.line, f"`{event.op}` needs one type on all ranks"),),
                    fix="Say which: `dtype=...`.",
                )


def _made(function: Function, event: Event) -> ast.Call | None:
    """The `torch.tensor(...)` without a type that a collective in place is called on."""
    rule = sanitiser(event.name)
    if rule is None or not rule.in_place or not isinstance(event.site, ast.Call):
        return None
    given = argument(event.site, *rule.in_place)
    name = dotted(given)
    values: list[ast.expr] = [given] if given is not None else []
    if name is not None:
        flow = reaching(function)
        found = flow.of(name, flow.nodes(event.site))
        values = [d.value for d in found if d.how == "assign" and not d.path and d.value is not None]
    for value in values:
        if isinstance(value, ast.Call) and value.args and argument(value, 1, "dtype") is None:
            target = resolve(function, value.func)
            if isinstance(target, External) and target.dotted in ("torch.tensor", "torch.as_tensor"):
                return value
    return None


def _open(value: ast.expr) -> bool:
    """Whether nothing in the code says of which type the value is."""
    if isinstance(value, (ast.List, ast.Tuple)):
        return bool(value.elts) and all(_open(each) for each in value.elts)
    if isinstance(value, ast.IfExp) and isinstance(value.body, ast.Constant):
        return not isinstance(value.orelse, ast.Constant) or type(value.body.value) is not type(
            value.orelse.value
        )
    if isinstance(value, ast.Call):
        return dotted(value.func) not in _OF_ONE_TYPE
    return not isinstance(value, (ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp))


RULE = Rule(find=_find)
