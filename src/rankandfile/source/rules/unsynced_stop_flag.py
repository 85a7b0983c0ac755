"""A flag that each rank sets by itself decides when it stops.

## Why this is bad

Early stopping, signals and "something is wrong" flags are set on one rank first. It leaves the loop, and the others
wait in the next step's collectives.

## Example

```python
import torch.distributed as dist

for epoch in range(epochs):
    loss = train_one_epoch(model, loader)  # reduces gradients
    if loss > best:
        patience -= 1
    if patience == 0:
        break
```

## Use instead

```python
import torch.distributed as dist

    stop = torch.tensor(int(patience == 0))
    dist.all_reduce(stop, op=dist.ReduceOp.MAX)
    if stop.item():
        break
```

## Limits

A flag of which it is not known how it is set is silent.
"""

from rankandfile.source.effects.divergence import PossibleDivergence
from rankandfile.source.lint.rule import Rule

ORDER = 120


def _claims(divergence: PossibleDivergence) -> bool:
    return divergence.leaving in ("break", "return", "loop", "exit")


RULE = Rule(
    claims=_claims,
    fix=(
        "all_reduce the flag (MAX where any rank may stop all) or broadcast one rank's decision, "
        "and let all ranks act on that."
    ),
)
