"""Ranks issue the same collectives, each in an order of its own.

## Why this is bad

Collectives pair by the order in which they are called. Where each rank sorts its work by its own cost or length, or
takes it as it arrives, two ranks are in collectives for different items at the same time: on one group the numbers of
one item are added to those of another, on several groups they wait for each other in a circle.

## Example

```python
import torch.distributed as dist

for bucket in sorted(buckets, key=lambda bucket: -bucket.filled):  # filled by this rank's own batch
    dist.all_reduce(bucket.flat, group=bucket.group)
```

## Use instead

```python
import torch.distributed as dist

for bucket in sorted(buckets, key=lambda bucket: bucket.name):
    dist.all_reduce(bucket.flat, group=bucket.group)
```

## Limits

Reported for `sorted(..., key=...)` in the loop itself, in what it calls or in the attribute that it goes through, and
for `as_completed`. The order of sets is `collective-in-set-iteration`.
"""

import ast
from collections.abc import Iterable, Iterator

from rankandfile.source.dependence import Reason, why_sorted
from rankandfile.source.dependence.objects.functions_held import functions_held
from rankandfile.source.dependence.reaching_assignments import reaching
from rankandfile.source.effects.divergence import PossibleDivergence
from rankandfile.source.effects.event import objects_of
from rankandfile.source.lint.rule import Found, Rule, View, can_differ, on_the_way, steps_of
from rankandfile.source.lint.weigh import of_reason
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import enclosing_class
from rankandfile.source.program.scopes import own_nodes, returned_values

ORDER = 25
_LOOPS = (ast.For, ast.AsyncFor)
_SAME_ORDER = ("list", "tuple", "reversed", "enumerate", "iter")
_FURTHEST = 4


def _find(view: View) -> Iterable[Found]:
    """Loops over what was sorted elsewhere; those that sort themselves are divergences."""
    for function in view.functions:
        for loop in (node for node in own_nodes(function) if isinstance(node, _LOOPS)):
            if _by_key(loop.iter):
                continue
            for where, call in _sorted(view, function, loop.iter):
                reason = why_sorted(view.program, where, call)
                found = _reported(view, function, loop, where, call, reason)
                if found is not None:
                    yield found
                    break


def _reported(
    view: View,
    function: Function,
    loop: ast.For | ast.AsyncFor,
    where: Function,
    call: ast.Call,
    reason: Reason,
) -> Found | None:
    if reason.level not in ("axes", "varying"):
        return None
    reached = view.reached(ast.Module(loop.body, []), view.all_divergences.group_of)
    if reached is None:
        return None
    event, calls = reached
    severity = of_reason(reason, view.all_divergences.group_of(event))
    if severity is None:
        return None
    return Found(
        severity=severity,
        function=function,
        node=loop,
        message=f"`{event.op}` is called in each round of this loop, in an order of each rank's own",
        story=(
            can_differ(where, call.lineno, reason),
            *on_the_way(calls),
            (event.function, event.line, event.words),
        ),
        steps=steps_of(reason),
        fix=_FIX,
    )


def _sorted(
    view: View, function: Function, e: ast.expr, left: int = _FURTHEST
) -> Iterator[tuple[Function, ast.Call]]:
    """The calls of `sorted` with a key whose order an expression can have."""
    if left == 0:
        return
    if _by_key(e) and isinstance(e, ast.Call):
        yield function, e
    elif isinstance(e, ast.Call) and getattr(e.func, "id", "") in _SAME_ORDER and e.args:
        yield from _sorted(view, function, e.args[0], left)
    elif isinstance(e, ast.Call):
        for target in functions_held(objects_of(view.program), function, e.func):
            for value in returned_values(target):
                yield from _sorted(view, target, value, left - 1)
    elif isinstance(e, ast.Subscript) and isinstance(e.slice, ast.Slice):
        yield from _sorted(view, function, e.value, left)
    elif isinstance(e, (ast.BoolOp, ast.IfExp)):
        for each in e.values if isinstance(e, ast.BoolOp) else (e.body, e.orelse):
            yield from _sorted(view, function, each, left)
    else:
        for where, value in _given(view, function, e):
            yield from _sorted(view, where, value, left - 1)


def _given(view: View, function: Function, e: ast.expr) -> Iterator[tuple[Function, ast.expr]]:
    """What a variable, or an attribute of `self`, is set to."""
    own = enclosing_class(function)
    if isinstance(e, ast.Name):
        flow = reaching(function)
        for d in flow.of(e.id, flow.nodes(e)):
            if d.how == "assign" and d.value is not None and not d.path:
                yield function, d.value
    elif isinstance(e, ast.Attribute) and getattr(e.value, "id", "") == "self" and own is not None:
        for where, d in objects_of(view.program).stores(own, e.attr):
            if d.how == "assign" and d.value is not None and not d.path:
                yield where, d.value


def _claims(divergence: PossibleDivergence) -> bool:
    if not isinstance(divergence.owner, _LOOPS):
        return False
    return divergence.reason.source == "arrival" or _by_key(divergence.owner.iter)


def _by_key(e: ast.expr) -> bool:
    named = isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and e.func.id == "sorted"
    return named and isinstance(e, ast.Call) and any(keyword.arg == "key" for keyword in e.keywords)


_FIX = "Go through the items in an order that all ranks share: by name, or by what a collective gave all of them."
RULE = Rule(claims=_claims, find=_find, cause="order_inversion", fix=_FIX)
