"""Who of a ring sends first goes by the rank in the job, and the ring is a group of its own.

## Why this is bad

Every other rank sends first, and the others listen, so that each send is met by a receive. The members of a group need
not be every other rank: where they are two or four apart, all are even, or all odd, and all send first, or all listen.
Blocking calls then wait for each other in a circle.

## Example

```python
import torch.distributed as dist

if dist.get_rank() % 2 == 0:
    dist.send(block, dst=following, group=ring)
    dist.recv(out, src=previous, group=ring)
else:
    dist.recv(out, src=previous, group=ring)
    dist.send(block, dst=following, group=ring)
```

## Use instead

```python
import torch.distributed as dist

if dist.get_rank(ring) % 2 == 0:  # the place in the ring
    ...
```

## Limits

Reported where the branches of one test do the same in another order, on a group that is named; who its members are is
not asked: in a group of neighbours the order may be right. On the whole job the rank is the place, if the ring goes
from each to the next.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence

from rankandfile.source.dependence import why
from rankandfile.source.dependence.objects.functions_held import functions_held
from rankandfile.source.dependence.syntax import argument, constant, text
from rankandfile.source.effects.event import objects_of
from rankandfile.source.lint.rule import RANK, Found, Rule, View, can_differ, steps_of
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import External, resolve
from rankandfile.source.program.scopes import own_nodes, returned_values

ORDER = 296
_TALKS = {"torch.distributed.send": "send", "torch.distributed.recv": "recv"}


def _find(view: View) -> Iterable[Found]:
    for function in view.asked:
        for node in own_nodes(function):
            if not isinstance(node, ast.If) or not node.orelse or not _alternates(view, function, node.test):
                continue
            one, other = list(_talks(function, node.body)), list(_talks(function, node.orelse))
            turned = one and sorted(one) == sorted(other) and one[0][0] != other[0][0]
            if not turned or not all(on_group for _what, on_group in one):
                continue
            reason = why(view.program, function, node.test)
            if reason.level != "varying" or reason.source not in RANK:
                continue
            yield Found(
                severity="warning",
                function=function,
                node=node.test,
                message=f"`{text(node.test, 60)}` says who sends first: all of a group may be even, or all odd",
                story=(can_differ(function, node.lineno, reason),),
                steps=steps_of(reason),
                fix="Go by the place in the group: `dist.get_rank(group) % 2`.",
            )


def _alternates(view: View, function: Function, test: ast.expr) -> bool:
    """Whether every other rank goes one way: `rank % 2`, also in what the test calls."""
    tests = [test]
    if isinstance(test, ast.Call):
        held = functions_held(objects_of(view.program), function, test.func)
        tests += [value for each in held for value in returned_values(each)]
    parts = (part for each in tests for part in ast.walk(each))
    return any(
        isinstance(p, ast.BinOp) and isinstance(p.op, ast.Mod) and constant(p.right) == 2 for p in parts
    )


def _talks(function: Function, body: Sequence[ast.stmt]) -> Iterator[tuple[str, bool]]:
    """The blocking sends and receives, also those in functions that are called there; whether on a group."""
    calls = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Call)]
    for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        target = resolve(function, call.func)
        inside = [call] if isinstance(target, External) else []
        if isinstance(target, Function):
            inside = [n for n in own_nodes(target) if isinstance(n, ast.Call)]
        for each in inside:
            found = resolve(target if isinstance(target, Function) else function, each.func)
            if isinstance(found, External) and found.dotted in _TALKS:
                group = argument(each, 2, "group")
                yield _TALKS[found.dotted], group is not None and not isinstance(group, ast.Constant)


RULE = Rule(find=_find, cause="order_inversion")
