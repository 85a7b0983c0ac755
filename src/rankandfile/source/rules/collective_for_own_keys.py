"""A collective is called for each item of a table that every rank fills by itself.

## Why this is bad

Ranks that met other kinds of data have other keys, or the same keys in another order: one calls a collective more, or
two call the same one for different keys and sum apples with pears. Sorting fixes the order, and not the number.

## Example

```python
import torch.distributed as dist

for batch in loader:
    table.setdefault(batch.kind, torch.zeros(1)).add_(1)
for kind, total in table.items():
    dist.all_reduce(total)
```

## Use instead

```python
import torch.distributed as dist

table = {kind: torch.zeros(1) for kind in KINDS}  # the same on every rank, from the configuration
for kind in sorted(KINDS):
    dist.all_reduce(table[kind])
```

## Limits

Reported where it is known that keys come from what only this rank has.
"""

import ast
from collections.abc import Iterable, Iterator

from rankandfile.source.dependence import why_held
from rankandfile.source.dependence.syntax import argument, container_of, text
from rankandfile.source.lint.rule import Found, Rule, View, can_differ, on_the_way, steps_of
from rankandfile.source.lint.weigh import of_reason
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import enclosing_class, method
from rankandfile.source.program.scopes import own_nodes

ORDER = 270
_NEAR = 3


def _find(view: View) -> Iterable[Found]:
    for function in view.functions:
        yield from _logged(view, function)
        for node, iterable, body in _loops(function):
            container, where = _inside(container_of(iterable), function)
            if not isinstance(container, (ast.Name, ast.Attribute)):
                continue
            found = view.reached(ast.Module(body, []), view.all_divergences.group_of)
            if found is None:
                continue
            event, calls = found
            reason = why_held(view.program, where, container)
            if not any(step.kind == "under a key" for step in reason.chain[:_NEAR]):
                continue  # A loader holds what is this rank's own, too; how much of it is another question.
            severity = of_reason(reason, view.all_divergences.group_of(event))
            if severity is None:
                continue
            shown = ast.unparse(container)
            yield Found(
                severity=severity,
                function=function,
                node=node,
                message=f"`{event.op}` is called for each item of `{shown}`, which each rank fills by itself",
                story=(
                    can_differ(function, node.lineno, reason),
                    *on_the_way(calls),
                    (event.function, event.line, event.words),
                ),
                steps=steps_of(reason),
                fix="Agree on the keys first (all_gather_object, or a list from the configuration), and sort them.",
            )


def _logged(view: View, function: Function) -> Iterator[Found]:
    """Lightning reduces the values of a table one by one."""
    if "log_dict" not in function.module.text:
        return
    for event in view.events(ast.Module(_body(function), [])):
        table = argument(event.site, 0, "dictionary") if isinstance(event.site, ast.Call) else None
        if event.op != "log_dict" or not event.sure or table is None:
            continue
        reason = why_held(view.program, function, table)
        severity = of_reason(reason)
        if severity is not None:
            yield Found(
                severity=severity,
                function=function,
                node=event.site,
                message=f"each value of `{text(table, 60)}` is reduced, and each rank has keys of its own in it",
                story=(
                    can_differ(function, event.line, reason),
                    (function, event.line, event.words),
                ),
                steps=steps_of(reason),
                fix="Log the same keys on every rank: a value for those that it has not met, too.",
            )


def _body(function: Function) -> list[ast.stmt]:
    node = function.node
    return [ast.Expr(node.body)] if isinstance(node, ast.Lambda) else node.body


def _loops(function: Function) -> Iterator[tuple[ast.expr | ast.stmt, ast.expr, list[ast.stmt]]]:
    for node in own_nodes(function):
        if isinstance(node, (ast.For, ast.AsyncFor)):
            yield node, node.iter, node.body
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            yield node, node.generators[0].iter, [ast.Expr(node.elt)]
        elif isinstance(node, ast.DictComp):
            yield node, node.generators[0].iter, [ast.Expr(node.key), ast.Expr(node.value)]


def _inside(e: ast.expr, function: Function) -> tuple[ast.expr, Function]:
    """A loop over `self` is one over what its `__iter__` yields from."""
    own = enclosing_class(function) if isinstance(e, ast.Name) and e.id == "self" else None
    made = method(own, "__iter__") if own is not None else None
    for node in own_nodes(made) if made is not None else ():
        if isinstance(node, (ast.YieldFrom, ast.Return)) and node.value is not None:
            return container_of(node.value), made or function
        if isinstance(node, ast.For):
            return container_of(node.iter), made or function
    return e, function


RULE = Rule(find=_find, cause="order_inversion")
