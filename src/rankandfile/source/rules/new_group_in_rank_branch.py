"""A process group is made by some ranks only.

## Why this is bad

`new_group` and `init_device_mesh` are for all ranks of the job, members of the new group or not. Ranks that do not
call it leave the others waiting in it, or give their next group the name of this one.

## Example

```python
import torch.distributed as dist

if dist.get_rank() in (0, 1):
    pair = dist.new_group([0, 1])
```

## Use instead

```python
import torch.distributed as dist

pair = dist.new_group([0, 1])  # on every rank, in the same order
if dist.get_rank() in (0, 1):
    dist.all_reduce(x, group=pair)
```

## Limits

`new_group(..., use_local_synchronization=True)` is called by members only, and is not reported.
"""

from rankandfile.source.effects.parting import Parting
from rankandfile.source.lint.rule import GROUP_MAKERS, RANK, Rule

ORDER = 10


def _claims(parting: Parting) -> bool:
    return parting.event.op in GROUP_MAKERS and parting.reason.source in RANK


RULE = Rule(
    claims=_claims,
    cause="group_mismatch",
    fix="Let every rank of the job make every group, in the same order; use it on its members only.",
)
