"""A rank's own clock decides whether it calls a collective.

## Why this is bad

Clocks and the time that work takes differ between ranks: one passes the limit a step before the others, and stops or
saves alone.

## Example

```python
import torch.distributed as dist

while True:
    loss = step()
    dist.all_reduce(loss)
    if time.time() - start > limit:
        break
```

## Use instead

```python
import torch.distributed as dist

while True:
    loss = step()
    dist.all_reduce(loss)
    over = torch.tensor(float(time.time() - start > limit))
    dist.all_reduce(over, op=dist.ReduceOp.MAX)
    if over.item():
        break
```

## Limits

A time that all ranks agreed on by a collective is silent.
"""

from rankandfile.source.effects.divergence import PossibleDivergence
from rankandfile.source.lint.rule import Rule

ORDER = 90


def _claims(divergence: PossibleDivergence) -> bool:
    return divergence.reason.source == "clock"


RULE = Rule(
    claims=_claims,
    fix=(
        "Let one rank look at its clock and broadcast the decision, or all_reduce it (MAX), before "
        "anybody acts on it."
    ),
)
