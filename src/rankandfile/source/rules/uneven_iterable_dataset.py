"""Ranks go round a loop with collectives in it as often as their own data lasts.

## Why this is bad

Shards of different length end at different times. Whoever has a batch left waits in the next collective for those
that have none: at the end of the first epoch, often hours into the job.

## Example

```python
import torch.distributed as dist

class Shard(IterableDataset):
    def __iter__(self):
        yield from self.files[dist.get_rank() :: dist.get_world_size()]

for batch in DataLoader(Shard(files)):
    model(batch).sum().backward()  # DDP reduces gradients here
```

## Use instead

```python
import torch.distributed as dist

with Join([model]):  # or: drop the rest, pad, or all_reduce "has another batch"
    for batch in DataLoader(Shard(files)):
        model(batch).sum().backward()
```

## Limits

`DistributedSampler` makes shards of equal length and is silent. A length of which nothing is known is silent, too.
"""

import ast

from rankandfile.source.effects.divergence import PossibleDivergence
from rankandfile.source.lint.rule import Rule

ORDER = 80
_OTHER = ("clock", "file_system", "set_order")


def _claims(divergence: PossibleDivergence) -> bool:
    loop = divergence.leaving == "loop" and isinstance(divergence.owner, (ast.For, ast.AsyncFor))
    return loop and divergence.reason.source not in _OTHER


RULE = Rule(
    claims=_claims,
    fix=(
        "Make the shards equally long (drop or pad), use Join, or let the ranks agree on whether "
        "all have another batch."
    ),
)
