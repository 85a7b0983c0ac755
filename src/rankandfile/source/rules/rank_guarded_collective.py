"""A collective is called on some ranks only, as their own number decides.

## Why this is bad

A collective returns when all members of its group have called it. Under a test of the rank some never do: the others
wait until the watchdog kills the job, mostly somewhere else.

## Example

```python
import torch.distributed as dist

if dist.get_rank() == 0:
    dist.all_reduce(loss)
    print(loss)
```

## Use instead

```python
import torch.distributed as dist

dist.all_reduce(loss)
if dist.get_rank() == 0:
    print(loss)
```

## Limits

A collective of a group under a test that may be about who is a member is not reported, and neither is a test of which
nothing is known. Branches that issue the same collectives are silent, and so is "main process first".
"""

from rankandfile.source.effects.divergence import PossibleDivergence
from rankandfile.source.lint.rule import RANK, Rule

ORDER = 60


def _claims(divergence: PossibleDivergence) -> bool:
    return divergence.reason.source in RANK


RULE = Rule(
    claims=_claims,
    fix="Call it on every rank, and put only what is done with the result under the test.",
)
