"""A value that only this rank has decides whether it calls a collective.

## Why this is bad

A loss, a norm or a count before it is reduced differs between ranks: one skips the step for a NaN that the others do
not have.

## Example

```python
import torch.distributed as dist

loss = model(batch)
if torch.isnan(loss):
    continue
loss.backward()  # DDP reduces gradients here
```

## Use instead

```python
import torch.distributed as dist

bad = torch.isnan(loss).float()
dist.all_reduce(bad, op=dist.ReduceOp.MAX)
if bad.item():
    continue  # all ranks together
loss.backward()
```

## Limits

A value of unknown origin is silent, and one that was reduced over the group of the collective as well.
"""

from rankandfile.source.effects.divergence import PossibleDivergence
from rankandfile.source.lint.rule import Rule

ORDER = 130


def _claims(_divergence: PossibleDivergence) -> bool:
    return True


RULE = Rule(
    claims=_claims,
    fix="Reduce the value, or the decision, over the group before anybody acts on it.",
)
