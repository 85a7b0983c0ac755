"""A collective is called for each item of a set.

## Why this is bad

The order of a set of words differs from process to process (`PYTHONHASHSEED`), so that ranks issue collectives for
different items at the same time: sizes that do not match, or numbers added up that do not belong together.

## Example

```python
import torch.distributed as dist

for name in {"loss", "accuracy"}:
    dist.all_reduce(metrics[name])
```

## Use instead

```python
import torch.distributed as dist

for name in sorted({"loss", "accuracy"}):
    dist.all_reduce(metrics[name])
```

## Limits

A set of small integers has the same order everywhere, which is not known here.
"""

from rankandfile.source.effects.divergence import PossibleDivergence
from rankandfile.source.lint.rule import Rule

ORDER = 20


def _claims(divergence: PossibleDivergence) -> bool:
    return divergence.reason.source == "set_order"


RULE = Rule(
    claims=_claims,
    cause="order_inversion",
    fix="Go through the items in an order that all ranks share: `sorted(...)`.",
)
