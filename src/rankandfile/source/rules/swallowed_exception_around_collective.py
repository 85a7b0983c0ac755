"""An exception that one rank swallows takes it past a collective.

## Why this is bad

A file that cannot be read or a batch that cannot be decoded raises on one rank. Where the handler goes on, that rank
has one collective less than the others, who wait in it.

## Example

```python
import torch.distributed as dist

for path in paths:
    try:
        batch = torch.load(path)
    except OSError:
        continue
    dist.all_reduce(batch)
```

## Use instead

```python
import torch.distributed as dist

for path in paths:
    try:
        batch, failed = torch.load(path), torch.tensor(0)
    except OSError:
        batch, failed = None, torch.tensor(1)
    dist.all_reduce(failed, op=dist.ReduceOp.MAX)
    if failed.item():
        continue  # all ranks together
    dist.all_reduce(batch)
```

## Limits

Reported where something in the `try` is known to fail for one rank alone: reads, and what is given data of that rank.
"""

from rankandfile.source.effects.divergence import SWALLOWS, PossibleDivergence
from rankandfile.source.lint.rule import Rule

ORDER = 40


def _claims(divergence: PossibleDivergence) -> bool:
    return isinstance(divergence.owner, SWALLOWS)


RULE = Rule(
    claims=_claims,
    fix=(
        "Let all ranks agree on whether one of them failed (all_reduce of a flag, MAX) before they "
        "go on, or let the exception out."
    ),
)
