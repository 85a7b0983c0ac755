"""A wrapped model is called on some ranks only.

## Why this is bad

DDP may broadcast buffers in its forward pass, FSDP and ZeRO gather parameters in it: a rank that calls the wrapped
model alone waits there for the others.

## Example

```python
import torch.distributed as dist

model = DistributedDataParallel(model)
if dist.get_rank() == 0:
    validate(model(batch))
```

## Use instead

```python
import torch.distributed as dist

model = DistributedDataParallel(model)
if dist.get_rank() == 0:
    validate(model.module(batch))  # DDP: the model without its wrapper
```

## Limits

DDP broadcasts only where the model has buffers. With FSDP, `model.module` needs the others as well: run it on every
rank.
"""

from rankandfile.source.effects.divergence import PossibleDivergence
from rankandfile.source.effects.event import FORWARD
from rankandfile.source.lint.rule import RANK, Rule

ORDER = 30


def _claims(divergence: PossibleDivergence) -> bool:
    return divergence.event.op == FORWARD and divergence.reason.source in RANK


RULE = Rule(
    claims=_claims,
    fix=(
        "Call the model without its wrapper (`model.module`) under DDP; under FSDP or ZeRO let "
        "every rank call it."
    ),
)
