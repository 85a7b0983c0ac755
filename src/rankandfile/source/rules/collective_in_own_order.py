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

Reported for `sorted(..., key=...)` in the loop itself, and for `as_completed`. The order of sets is
`collective-in-set-iteration`.
"""

import ast

from rankandfile.source.effects.parting import Parting
from rankandfile.source.lint.rule import Rule

ORDER = 25
_LOOPS = (ast.For, ast.AsyncFor)


def _claims(parting: Parting) -> bool:
    if not isinstance(parting.owner, _LOOPS):
        return False
    return parting.reason.source == "arrival" or _by_key(parting.owner.iter)


def _by_key(e: ast.expr) -> bool:
    named = isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and e.func.id == "sorted"
    return named and isinstance(e, ast.Call) and any(keyword.arg == "key" for keyword in e.keywords)


RULE = Rule(
    claims=_claims,
    cause="order_inversion",
    fix="Go through the items in an order that all ranks share: by name, or by what a collective gave all of them.",
)
