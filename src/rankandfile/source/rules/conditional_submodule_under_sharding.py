"""A sharded module is called only for some of a rank's batches.

## Why this is bad

FSDP and ZeRO gather the parameters of a module when it is called. A rank whose batch has no image skips the vision
tower, and the gathers of the others pair with the next ones of this rank: hangs, or sizes that do not match.

## Example

```python
fully_shard(model.vision)

for batch in loader:
    if batch["images"] is not None:
        features = model.vision(batch["images"])
```

## Use instead

```python
for batch in loader:
    images = batch["images"] if batch["images"] is not None else torch.zeros(1, 3, 224, 224)
    features = model.vision(images) * (batch["images"] is not None)  # every rank, every step
```

## Limits

Reported where the wrapping is seen in the program and the test goes back to the rank's own batches.
"""

from rankandfile.source.effects.divergence import PossibleDivergence
from rankandfile.source.effects.event import FORWARD
from rankandfile.source.lint.rule import Rule

ORDER = 110


def _claims(divergence: PossibleDivergence) -> bool:
    return divergence.event.op == FORWARD and not divergence.leaving


RULE = Rule(
    claims=_claims,
    fix="Call the module on every rank in every step, with a dummy input whose output is multiplied by zero.",
)
