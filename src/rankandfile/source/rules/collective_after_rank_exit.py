"""Some ranks leave before a collective, as their own number decides.

## Why this is bad

A `return`, `break`, `continue` or `sys.exit()` behind a test of the rank looks harmless where it stands; the
collective that follows, perhaps pages below, is then waited for by the others.

## Example

```python
import torch.distributed as dist

def finish(metrics):
    if dist.get_rank() != 0:
        return
    write(metrics)
    dist.barrier()
```

## Use instead

```python
import torch.distributed as dist

def finish(metrics):
    if dist.get_rank() == 0:
        write(metrics)
    dist.barrier()
```

## Limits

What a caller does after the function returned is the same for all ranks, and is not looked at.
"""

from rankandfile.source.effects.divergence import PossibleDivergence
from rankandfile.source.lint.rule import RANK, Rule

ORDER = 50


def _claims(divergence: PossibleDivergence) -> bool:
    return divergence.reason.source in RANK and divergence.leaving in (
        "return",
        "break",
        "continue",
        "raise",
        "exit",
    )


RULE = Rule(
    claims=_claims,
    fix="Put only the work of one rank under the test, and let every rank come to the collective.",
)
