"""What a rank finds in the file system decides whether it calls a collective.

## Why this is bad

Disks are local to nodes, shared ones are seen late, and another rank may be writing the file at this moment: ranks
see different things.

## Example

```python
import torch.distributed as dist

if os.path.exists("checkpoint.pt"):
    dist.broadcast(weights, src=0)
```

## Use instead

```python
import torch.distributed as dist

found = [os.path.exists("checkpoint.pt")]
dist.broadcast_object_list(found, src=0)
if found[0]:
    dist.broadcast(weights, src=0)
```

## Limits

On a shared and quiet file system all ranks see the same, which the code does not tell.
"""

from rankandfile.source.effects.divergence import PossibleDivergence
from rankandfile.source.lint.rule import Rule

ORDER = 100


def _claims(divergence: PossibleDivergence) -> bool:
    return divergence.reason.source == "file_system"


RULE = Rule(
    claims=_claims,
    fix="Let one rank look and broadcast what it found; all act on that.",
)
