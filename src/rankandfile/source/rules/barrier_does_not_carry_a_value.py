"""A rank acts on its own value after a barrier, as if the barrier had made it everybody's.

## Why this is bad

A barrier makes ranks wait for each other, and no more: what each rank has found or computed stays its own. The
decision after it still differs, and the ranks go different ways right there.

## Example

```python
import torch.distributed as dist

stop = loss.item() > limit
dist.barrier()
if not stop:
    dist.all_reduce(loss)
```

## Use instead

```python
import torch.distributed as dist

stop = torch.tensor(float(loss.item() > limit))
dist.all_reduce(stop, op=dist.ReduceOp.MAX)
if not stop.item():
    dist.all_reduce(loss)
```

## Limits

Reported where the barrier is the statement before the decision. What one rank writes to a shared disk before a
barrier, and all read after it, is another matter.
"""

import ast

from rankandfile.source.dependence.syntax import parents
from rankandfile.source.effects.divergence import PossibleDivergence
from rankandfile.source.effects.event import Event
from rankandfile.source.effects.loud import effects_of
from rankandfile.source.lint.rule import RANK, Rule

ORDER = 70
_BARRIERS = ("barrier", "monitored_barrier", "wait_for_everyone")


def _claims(divergence: PossibleDivergence) -> bool:
    if divergence.reason.source in (*RANK, "file_system") or not isinstance(
        divergence.owner, (ast.If, ast.While)
    ):
        return False
    around = parents(divergence.function.module).get(divergence.owner)
    effects = effects_of(divergence.function.module.program)
    for name in ("body", "orelse", "finalbody"):
        block = getattr(around, name, [])
        if isinstance(block, list) and divergence.owner in block[1:]:
            before = block[block.index(divergence.owner) - 1]
            value = before.value if isinstance(before, ast.Expr) else None
            found = effects.of.get(value, ()) if value is not None else ()
            return any(isinstance(each, Event) and each.op in _BARRIERS for each in found)
    return False


RULE = Rule(
    claims=_claims,
    fix="Send the value itself: all_reduce or broadcast it in place of the barrier.",
)
